// A report that was made elsewhere, as a profile that answers the questions of the editor.
import { t } from '../../protocol/l10n';
import type { AdviceList } from '../../protocol/advice';
import { EngineError } from '../../protocol/engine';
import { amountOf, loadCyclesOf, type Measure } from '../../protocol/measure';
import { ownPlace } from '../../protocol/own-place';
import type { Answers, CodePlace, DataSum, LineChoice, ProfileLine, Question } from '../../protocol/profile';
import type { CacheLine, Report } from '../../protocol/report';
import { accessesOf, heatOfFile, isAt, placesOf } from './heat';
import { lineSummary } from './line-summary';
import type { ProfileSource, ShownQuestion } from './open-profile';

export class ReportProfile implements ProfileSource {
  readonly summary: ProfileSource['summary'];
  readonly filter = '';

  /** @param advised what to change; without a recording nobody else can say it */
  constructor(
    private readonly whole: Report,
    private readonly advised: AdviceList = noAdvice(whole),
  ) {
    const { lines, ...report } = whole;
    const counts = { lines: lines.length, selected: lines.length, objects: report.objects.length, types: report.types?.length ?? 0 };
    this.summary = { report: { ...report, objects: [] }, counts, loadCycles: loadCyclesOf(whole) };
  }

  ask<Q extends ShownQuestion>(question: Extract<Question, { question: Q }>): Promise<Answers[Q]> {
    const answer = this.answer(question);
    return answer instanceof EngineError ? Promise.reject(answer) : Promise.resolve(answer as Answers[Q]);
  }

  filtered(): Promise<never> {
    return Promise.reject(
      new EngineError('impossible', t('This report was made elsewhere and cannot be filtered.'), t('Open its recording.')),
    );
  }

  report(): Promise<Report> {
    return Promise.resolve(this.whole);
  }

  advice(): Promise<AdviceList> {
    return Promise.resolve(this.advised);
  }

  table(): Promise<never> {
    return Promise.reject(
      new EngineError('impossible', t('This report was made elsewhere and cannot be added up.'), t('Open its recording.')),
    );
  }

  threads(): Promise<never> {
    return Promise.reject(
      new EngineError('impossible', t('This report was made elsewhere and has no threads over time.'), t('Open its recording.')),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private answer(question: Extract<Question, { question: ShownQuestion }>): Answers[ShownQuestion] | EngineError {
    switch (question.question) {
      case 'lines':
        return chosenLines(this.whole.lines, question.only ?? {});
      case 'rows': {
        const { total, rows } = chosenLines(this.whole.lines, question.only ?? {});
        return { total, rows: rows.map(({ id, line }) => lineSummary(line, id)) };
      }
      case 'line': {
        const line = this.whole.lines[Number(question.id)];
        return line ? { id: question.id, line } : new EngineError('usage', t('there is no line {0} in the report', question.id));
      }
      case 'code':
        return new EngineError('impossible', t('This report was made elsewhere and has no instructions.'), t('Open its recording.'));
      case 'objects':
        return { total: this.whole.objects.length, rows: this.whole.objects };
      case 'heat':
        return { rows: heatOfFile(this.whole.lines, question.file, question.measure) };
      case 'places':
        return { rows: codePlaces(this.whole) };
      case 'data':
        return { rows: dataSums(this.whole, question.measure) };
    }
  }
}

/** All of them at once, in the order of the report. */
function chosenLines(lines: readonly CacheLine[], choice: LineChoice): Answers['lines'] {
  const rows = lines.flatMap((line, index): ProfileLine[] => (isChosen(line, choice) ? [{ id: String(index), line }] : []));
  return { total: rows.length, rows };
}

function isChosen({ accesses }: CacheLine, { place, types, object }: LineChoice): boolean {
  if (place === undefined && types === undefined && object === undefined) return true;
  return accesses.some(
    (access) =>
      (place === undefined || isAt(access, place)) &&
      (types === undefined || types.includes(access.data.type ?? '')) &&
      (object === undefined || access.data.object === object),
  );
}

export function codePlaces({ lines }: Pick<Report, 'lines'>): CodePlace[] {
  const places = new Map<string, CodePlace>();
  for (const { object: binary, data, ...access } of accessesOf(lines)) {
    for (const { file, line } of placesOf(access)) {
      const key = `${line} ${file}`;
      let place = places.get(key);
      if (!place) places.set(key, (place = { file, line, binaries: [], uses: [] }));
      if (!place.binaries.includes(binary)) place.binaries.push(binary);
      const frame = access.inlined.findIndex((one) => one.file === file && one.line === line);
      const called = access.inlined[frame - 1]?.function ?? '';
      place.uses.push({ object: data.object, field: data.field ?? '', called });
    }
  }
  return [...places.values()];
}

export function dataSums({ lines }: Pick<Report, 'lines'>, measure: Measure): DataSum[] {
  return [...accessesOf(lines)].map((access) => ({
    data: access.data,
    width: access.width,
    amount: amountOf(access, measure),
    place: ownPlace(access) ?? null,
  }));
}

function noAdvice({ evidence, blind, warnings, recording }: Report): AdviceList {
  return { schema: 'cacheline-advice/1', evidence, blind, advice: [], latent: [], warnings, recording };
}
