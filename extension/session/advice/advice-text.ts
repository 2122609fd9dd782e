// The text of `cacheline advise`: for each advice what is shared, what to do, what it costs and gains, and where the edit is.
import type { Advice, AdviceList } from '../../protocol/advice';
import { sentence, percent } from '../../protocol/words';
import { joinArguments } from '../record/launch';
import { withBlindness } from '../report/blindness';
import { cannotTell, recordLonger, verdictText } from '../report/verdict-text';
import { headField, joinBlocks, titledList } from '../report/report-blocks';
import { readablePlace } from '../lines/source-path';
import { count, displayWidth, enumerate, PLAIN, plural, printable, wrap, type Style } from '../text/terminal-text';
import { costSentences, doText, gainSentences, latentSentences, lockSentences, luckSentences, whySentence } from './advice-words';
import { guardText, INTERFERENCE_SIZE, reorderCommand } from './by-hand';
import { subjectText } from './advice-names';
import { languageOf } from './spelling';

export interface AdviceTextOptions {
  /** Columns. */
  width: number;
  style?: Style;
  /** The recording, as it was asked for. */
  path: string;
  /** The reader's: source paths below it are shown relative to it. */
  folder: string;
}

const INDENT = '   ';
/** Stands for a blank that is no place to break: printable text has none. */
const BOUND_SPACE = '\u0001';

/** @param list with its edits. Lines joined by newlines, with one at the end; none but what is to be copied is wider than `width`. */
export function adviceText(list: AdviceList, options: AdviceTextOptions): string {
  const { advice, latent, warnings } = list;
  const { width, style = PLAIN, path } = options;
  const layout = { width, style };
  return joinBlocks([
    headField('Recording', path, layout),
    ...withBlindness(list, [summary(list)]).map((paragraph) => wrap(paragraph, width)),
    ...advice.map((one, at) => block(one, at + 1, { ...options, style, seconds: list.recording?.durationSeconds ?? 0 })),
    patchWords(list, options),
    latent.length === 0 ? [] : [style.bold('What placement decides'), ...latent.flatMap((one) => wrap(latentSentences(one), width, '- '))],
    notes(advice, layout),
    titledList('Warnings', warnings, width),
  ]);
}

function summary({ advice, latent }: AdviceList): string {
  if (advice.length === 0)
    return `No advice: no data with a known type or name has enough samples waiting for other threads${latent.length === 0 ? '' : '; see below for what placement decides'}. \`cacheline report\` shows what was recorded.`;
  const open = advice.filter((one) => cannotTell(one)).length;
  const helpful = advice.filter(({ way }) => way !== 'none').length;
  const rest = advice.length - helpful - open;
  const changes = helpful === 0 ? '' : `${plural(helpful, 'layout change')} ${helpful === 1 ? 'ends' : 'end'} waiting`;
  const none = rest === 0 ? '' : helpful === 0 && open === 0 ? 'no layout change helps' : `at ${plural(rest, 'place')} none does`;
  const few = open === 0 ? '' : `at ${plural(open, 'place')} there are too few samples to tell`;
  return `${sentence([changes, none, few].filter((text) => text !== '').join('; '))} Most samples first; shares are of all samples.`;
}

function block(advice: Advice, number: number, options: AdviceTextOptions & { style: Style; seconds: number }): string[] {
  const { width, style } = options;
  const verdict = verdictText({ ...advice, verdictSure: advice.sure });
  const heading = `${subjectText(advice.subject)}: ${verdict}, ${percent(advice.programShare)} of all samples wait here`;
  const [first = '', ...others] = wrap(heading, width, `${count(number)}. `.padEnd(INDENT.length));
  const { sentence: what, lines } = doText(advice);
  const more = cannotTell(advice) && advice.falseShare !== null ? recordLonger({ seconds: options.seconds }, advice.falseShare) : '';
  const why = [whySentence(advice), lockSentences(advice), luckSentences(advice), more].filter((text) => text !== '').join(' ');
  const after = [costSentences(advice), gainSentences(advice), editSentence(advice, options.folder)].filter((text) => text !== '');
  return [
    style.bold(first),
    ...others.map((line) => style.bold(line)),
    ...[why, what].filter((text) => text !== '').flatMap((text) => prose(text, width, INDENT)),
    ...lines.flatMap((line) => (line.startsWith('- ') ? wrap(line.slice(2), width, `${INDENT}  - `) : code(line, width))),
    ...after.flatMap((text) => prose(text, width, INDENT)),
    ...reorderLines(advice, width),
  ];
}

/** Wrapped, without a break inside of what stands between backticks. */
function prose(text: string, width: number, first?: string): string[] {
  const bound = text.replace(/`[^`]*`/g, (part) => part.replaceAll(' ', BOUND_SPACE));
  return wrap(bound, width, first).map((line) => line.replaceAll(BOUND_SPACE, ' '));
}

/** To be copied: no word is cut, however long it is. @param end of each line but the last: a shell's sign that it goes on */
function code(text: string, width: number, end = ''): string[] {
  const indent = `${INDENT}  `;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && displayWidth(indent + longer + end) > width) {
      lines.push(line + end);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((one) => indent + one);
}

function editSentence({ definition, edit, change, way }: Advice, folder: string): string {
  const { patch, reason } = edit;
  const file = change?.kind === 'allocate' ? change.call : definition;
  const place = file === null ? '' : printable(readablePlace(file, folder));
  if (way === 'none') return place === '' ? '' : `It is defined at ${place}.`;
  if (patch !== null) return `Edit: ready${place === '' ? '' : `, at ${place}`}.`;
  if (reason === null) return '';
  const isNamed = place === '' || (file !== null && reason.includes(file.file));
  return `Edit: none${isNamed ? '' : `, at ${place}`}. ${printable(reason)}`;
}

function reorderLines(advice: Advice, width: number): string[] {
  const command = advice.edit.patch === null ? reorderCommand(advice) : undefined;
  if (command === undefined) return [];
  return [
    ...wrap('This command also reorders initialisers that follow the order of the members:', width, INDENT),
    ...code(command, width, ' \\'),
  ];
}

function patchWords({ advice }: AdviceList, { path, width }: AdviceTextOptions): string[] {
  const ready = advice.flatMap(({ edit }, at) => (edit.patch === null ? [] : [count(at + 1)]));
  if (ready.length === 0) return [];
  const command = `cacheline advise --patch ${printable(joinArguments([path]))} | git apply`;
  return [
    ...wrap(`To make the ${ready.length === 1 ? 'edit' : 'edits'} of ${enumerate(ready)}, run this in the folder of the sources:`, width),
    ...code(command, width, ' \\'),
  ];
}

/** What holds for several advices, once. */
function notes(advice: readonly Advice[], { width, style }: { width: number; style: Style }): string[] {
  const helpful = advice.filter(({ way }) => way !== 'none');
  const isCxx = helpful.some((one) => languageOf(one) === 'c++');
  const [guard] = helpful.flatMap((one) => guardText(one) ?? []);
  const guardLines =
    guard === undefined ? [] : [...wrap('To guard the change, add after the definition:', width, '- '), ...code(guard, width)];
  const interference = isCxx ? prose(INTERFERENCE_SIZE, width, '- ') : [];
  return guardLines.length + interference.length === 0 ? [] : [style.bold('By hand'), ...guardLines, ...interference];
}
