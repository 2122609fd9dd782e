// A profile that is shown, and what the features look up in it. The engine keeps its lines: what is here grows with the program's
// source, and not with the recording.
import type { AdviceList } from '../../protocol/advice';
import { measureOf, wholeOf, type Measure, type Measured } from '../../protocol/measure';
import {
  isReportsOrder,
  LINES_OF_SCREEN,
  LINES_OF_WORDS,
  MOST_LINES_AT_ONCE,
  type OrderedLines,
  type RowOrder,
} from '../../protocol/panel';
import { panelLines } from './panel-lines';
import type {
  Answers,
  CodeListing,
  CodePlace,
  DataIdentity,
  DataSum,
  LineChoice,
  LinesQuestion,
  LineSummary,
  ProfileLine,
  RowsQuestion,
} from '../../protocol/profile';
import type { CacheLine, Report, SourcePlace } from '../../protocol/report';
import type { ThreadList } from '../../protocol/threads';
import { lineHeat, type LineHeat } from './heat';
import { lineOrder } from './line-order';
import type { ProfileSource, TableAnswer, TableQuestion, ThreadsQuestion } from './open-profile';
import { SharedCall } from './shared-call';
import { cardOf, wholeTypes, type TypeCard } from '../layout/type-heat';
import { indexTypes, type TypeIndex } from '../layout/type-places';
import { cardsByType } from '../layout/types-of-accesses';

/** Lines of an answer, most of the measure first. */
export interface HottestLines {
  /** Of all that there are. */
  total: number;
  lines: CacheLine[];
}

/** With the engine's names of them, and the first rows of the table: of data sources there can be more of these. */
export interface FirstLines extends HottestLines {
  rows: readonly ProfileLine[];
  summaries: readonly LineSummary[];
  /** Undefined: no other order than the report's was asked for, or these are all lines. */
  ordered: OrderedLines | undefined;
}

/** Objects that the page and the words of a profile may speak of: they speak of the first ones. */
const MOST_OBJECTS = 1000;

/** By file and line. */
type ByPlace<T> = Map<string, Map<number, T>>;

/** What is known of a profile from the start. */
interface Beginning {
  /** The first lines of the report, of which its words speak. */
  first: FirstLines;
  /** Lines that threads compete for, where the words of the report need their number. */
  contendedLines: number;
  /** Undefined: they are not here yet. */
  objects: Answers['objects'] | undefined;
}

export class ShownProfile {
  /** With the objects that cost most. */
  report: Measured;
  readonly first: FirstLines;
  readonly contendedLines: number;
  /** The source lines on which code stands. */
  readonly code: ByPlace<CodePlace> = new Map();
  /** Variables, where they are defined. */
  readonly definitions: ByPlace<DataIdentity[]> = new Map();
  private readonly data = new Map<Measure, Promise<readonly DataSum[]>>();
  private readonly heats = new Map<string, Promise<LineHeat[]>>();
  private readonly advised: SharedCall<AdviceList>;
  private typeIndex: TypeIndex | undefined;
  private cardsByType: ReturnType<typeof cardsByType> | undefined;
  private holders = 0;
  /** All data that the report names. */
  private identities: readonly DataSum[] = [];
  private completing: Promise<void> | undefined;
  /** The objects of the report are here, and so are its words. */
  hasObjects = false;

  private constructor(
    private readonly source: ProfileSource,
    readonly path: string,
    readonly title: string,
    { first, contendedLines, objects }: Beginning,
  ) {
    this.report = { ...source.summary.report, objects: [], loadCycles: source.summary.loadCycles };
    this.first = first;
    this.contendedLines = contendedLines;
    if (objects) this.setObjects(objects);
    this.advised = new SharedCall((signal) => source.advice(signal));
  }

  /**
   * Complete. Rejects with EngineError.
   * @param source closed by the last release(), or where this rejects
   * @param path the recording: a `.cacheline` folder or a perf.data file
   * @param title for people: the program's name
   */
  static async of(source: ProfileSource, path: string, title: string, signal?: AbortSignal): Promise<ShownProfile> {
    const profile = await ShownProfile.begin(source, path, title, signal);
    try {
      await profile.complete();
    } catch (error) {
      await source.close();
      throw error;
    }
    return profile;
  }

  /** With what the first rows of the panel need: what else is asked of all lines takes longer, and is here after `complete()`. */
  static async begin(source: ProfileSource, path: string, title: string, signal?: AbortSignal, order?: RowOrder): Promise<ShownProfile> {
    const { counts, report } = source.summary;
    const count = counts.selected > MOST_LINES_AT_ONCE ? LINES_OF_SCREEN : MOST_LINES_AT_ONCE;
    // Of data sources the words speak of the hottest lines and of sums; of clock samples they count in all lines.
    const inFull = report.c2c === undefined ? count : LINES_OF_WORDS;
    try {
      const [{ total, rows }, { rows: summaries }, ordered, objects] = await Promise.all([
        source.ask<'lines'>({ question: 'lines', count: inFull }, signal),
        source.ask<'rows'>({ question: 'rows', count }, signal),
        order && count < counts.selected ? askOrdered(source, order, signal) : undefined,
        // Which objects selected lines name is looked for in all of them.
        report.selected ? undefined : askObjects(source, signal),
      ]);
      const lines = rows.map(({ line }) => line);
      const contended = lines.filter((line) => line.contended > 0).length;
      const isKnown = report.c2c !== undefined || lines.length === total || contended < lines.length;
      const all = isKnown ? contended : (await source.ask<'lines'>({ question: 'lines', filter: 'contended>0', count: 0 }, signal)).total;
      return new ShownProfile(source, path, title, { first: { total, lines, rows, summaries, ordered }, contendedLines: all, objects });
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  /**
   * From then on the objects of the report, source lines and types are here; until then there seem to be none. Of the current profile
   * they are. Rejects with EngineError; the next call asks again.
   */
  complete(): Promise<void> {
    if (!this.completing) {
      this.completing = this.askRest();
      this.completing.catch(() => (this.completing = undefined));
    }
    return this.completing;
  }

  private async askRest(): Promise<void> {
    const [code, data, objects] = await Promise.all([
      this.source.ask<'places'>({ question: 'places' }),
      this.dataBy('contended'),
      this.hasObjects ? undefined : askObjects(this.source),
    ]);
    if (objects) this.setObjects(objects);
    this.identities = data;
    [this.typeIndex, this.cardsByType] = [undefined, undefined];
    for (const place of code.rows) at(this.code, place, () => place);
    for (const { data: identity } of data) {
      if (!identity.definition) continue;
      const there = at(this.definitions, identity.definition, (): DataIdentity[] => []);
      if (!there.some(({ object }) => object === identity.object)) there.push(identity);
    }
  }

  private setObjects({ rows }: Answers['objects']): void {
    this.report = { ...this.report, objects: rows };
    this.hasObjects = true;
  }

  get filter(): string {
    return this.source.filter;
  }

  /**
   * To be shown instead of this one. Rejects with EngineError, and then this one stays.
   * @param onShare as of its source
   * @param order of the rows that are shown now
   */
  async filtered(
    filter: string,
    signal: AbortSignal,
    { onShare, order }: { onShare?: (share: number) => void; order?: RowOrder | undefined } = {},
  ): Promise<ShownProfile> {
    return ShownProfile.begin(await this.source.filtered(filter, signal, onShare), this.path, this.title, undefined, order);
  }

  /** Somebody shows it from now on, until as many release(). */
  hold(): void {
    this.holders++;
  }

  /** Nobody waits for the engine to close it. */
  release(log: { error(message: string): void }): void {
    if (--this.holders === 0) this.source.close().catch((error: unknown) => log.error(`${this.path}: ${String(error)}`));
  }

  /** With all lines. */
  whole(): Promise<Report> {
    return this.source.report();
  }

  /** What to change, without the edits: the engine is asked once, and cancelled where nobody waits any more. Rejects with EngineError. */
  advice(signal?: AbortSignal): Promise<AdviceList> {
    return this.advised.get(signal);
  }

  /** Types that samples accessed. */
  get types(): TypeIndex {
    return (this.typeIndex ??= indexTypes(this.report, this.identities));
  }

  /** Of a source file by the report's name of it, in line order. */
  heat(file: string, measure: Measure): Promise<LineHeat[]> {
    return kept(this.heats, `${measure} ${file}`, async () => {
      if (!this.code.has(file)) return [];
      const { rows } = await this.source.ask<'heat'>({ question: 'heat', file, measure });
      const whole = wholeOf(this.report, measure);
      return rows.map((row) => lineHeat(row, file, measure, whole));
    });
  }

  /** With amounts of the measure. */
  dataBy(measure: Measure): Promise<readonly DataSum[]> {
    return kept(this.data, measure, async () => (await this.source.ask<'data'>({ question: 'data', measure })).rows);
  }

  /** Those that fit, most of the measure first: at most 1,000. */
  async lines(only: LineChoice, measure: Measure): Promise<HottestLines> {
    const { total, rows } = await this.ask({ question: 'lines', only, ...lineOrder('share', true, measure), count: MOST_LINES_AT_ONCE });
    return { total, lines: rows.map(({ line }) => line) };
  }

  /** Lines on which accesses are to data of a type, the most contended ones first. */
  async linesOfType(card: TypeCard): Promise<HottestLines> {
    const names = new Set(this.identities.map(({ data }) => data.type ?? ''));
    const types = [...names].filter((name) => this.cardsOf(name).includes(card));
    return types.length === 0 ? { total: 0, lines: [] } : this.lines({ types }, 'contended');
  }

  /** The cards of an access's type, by its name; several: definitions that differ. */
  cardsOf(type: string): readonly TypeCard[] {
    return (this.cardsByType ??= cardsByType(wholeTypes(this.report).map(cardOf), this.identities))(type);
  }

  /** One line in full. Rejects with EngineError, also where the filter leaves no such line. */
  line(id: string): Promise<ProfileLine> {
    return this.source.ask<'line'>({ question: 'line', id });
  }

  /** The instructions around an access of a line. Rejects with EngineError. */
  listing(id: string, access: number, signal: AbortSignal): Promise<CodeListing> {
    return this.source.ask<'code'>({ question: 'code', id, access }, signal);
  }

  /** The recording added up by keys. Rejects with EngineError. */
  table(question: TableQuestion, signal: AbortSignal): Promise<TableAnswer> {
    return this.source.table(question, signal);
  }

  /** What its threads did over time. Rejects with EngineError. */
  threads(question: ThreadsQuestion, signal: AbortSignal): Promise<ThreadList> {
    return this.source.threads(question, signal);
  }

  /** A page of lines. */
  ask(question: LinesQuestion): Promise<Answers['lines']> {
    return this.source.ask<'lines'>(question);
  }

  /** A page of them in summary. */
  rows(question: RowsQuestion): Promise<Answers['rows']> {
    return this.source.ask<'rows'>(question);
  }

  /** The first ones in another order than the report's; undefined: they are all here, or it is the report's. */
  ordered(order: RowOrder): Promise<OrderedLines | undefined> {
    return this.first.summaries.length < this.first.total ? askOrdered(this.source, order) : Promise.resolve(undefined);
  }

  /** Every place of the report that has a source line: what may be opened and what is followed through edits. */
  places(): Map<string, Set<number>> {
    const places = new Map<string, Set<number>>();
    const add = (file: string, lines: Iterable<number>): void => {
      const known = places.get(file) ?? new Set();
      for (const line of lines) known.add(line);
      places.set(file, known);
    };
    for (const [file, lines] of this.code) add(file, lines.keys());
    for (const [file, lines] of this.definitions) add(file, lines.keys());
    for (const [file, lines] of this.types) add(file, lines.keys());
    return places;
  }
}

async function askOrdered(source: ProfileSource, order: RowOrder, signal?: AbortSignal): Promise<OrderedLines | undefined> {
  if (isReportsOrder(order)) return undefined;
  const { report, loadCycles } = source.summary;
  const { measure } = measureOf({ ...report, loadCycles }, order.metric);
  const by = lineOrder(order.key, order.descending, measure);
  const { rows } = await source.ask<'rows'>({ question: 'rows', ...by, count: LINES_OF_SCREEN }, signal);
  return { order, lines: panelLines(rows) };
}

function askObjects(source: ProfileSource, signal?: AbortSignal): Promise<Answers['objects']> {
  return source.ask<'objects'>({ question: 'objects', count: MOST_OBJECTS }, signal);
}

function at<T>(map: ByPlace<T>, { file, line }: SourcePlace, make: () => T): T {
  let lines = map.get(file);
  if (!lines) map.set(file, (lines = new Map<number, T>()));
  let there = lines.get(line);
  if (there === undefined) lines.set(line, (there = make()));
  return there;
}

/** The answer of an earlier time; one that failed is asked for again. */
function kept<K, V>(answers: Map<K, Promise<V>>, key: K, ask: () => Promise<V>): Promise<V> {
  let answer = answers.get(key);
  if (!answer) {
    answers.set(key, (answer = ask()));
    answer.catch(() => answers.delete(key));
  }
  return answer;
}
