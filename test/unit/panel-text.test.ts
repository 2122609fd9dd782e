// What the panel shows of names that turn or hide the text around them.
import assert from 'node:assert/strict';
import { Fragment, h, options, type ComponentChildren, type VNode } from 'preact';
import { AccessCells, DetailCell, LineCells } from '../../webviews/panel/rows';
import { tableLayout } from '../../webviews/panel/layout';
import { lineRows } from '../../webviews/panel/model';
import { unfoldedLine } from '../../extension/session/profile/panel-lines';
import { showPrintable } from '../../webviews/panel/shown-text';
import type { Blind } from '../../extension/protocol/blindness';
import { DEFAULT_SORT, type PanelAdvice, type PanelHeat, type PanelWords } from '../../extension/protocol/panel';
import type { Report } from '../../extension/protocol/report';
import { VERDICT_MEANING } from '../../extension/protocol/words';
import { access, cacheLine, panelLine, readerBesideWriter, report, thread, unfolded } from './report-builder';

const EVIL = 'a\u202eb\u2066c\u200bd\u001b[1m';
const HARMLESS = 'a\\u{202e}b\\u{2066}c\\u{200b}d\\x1b[1m';

/** All texts and attributes of the elements that a component comes to. */
function shown(node: ComponentChildren): string[] {
  if (Array.isArray(node)) return node.flatMap((child: ComponentChildren) => shown(child));
  if (typeof node === 'string' || typeof node === 'number') return [String(node)];
  if (node === null || typeof node !== 'object') return [];
  const { type, props } = node as VNode<Record<string, string>>;
  if (typeof type === 'function') return shown((type as (props: unknown) => ComponentChildren)(props));
  return [...Object.values(props).filter((value) => typeof value === 'string'), ...shown(props.children)];
}

/** The elements that fold. */
function detailsOf(node: ComponentChildren): ComponentChildren[] {
  if (Array.isArray(node)) return node.flatMap((child: ComponentChildren) => detailsOf(child));
  if (node === null || typeof node !== 'object') return [];
  const { type, props } = node as VNode;
  if (typeof type === 'function') return detailsOf((type as (props: unknown) => ComponentChildren)(props));
  return type === 'details' ? [node] : detailsOf(props.children);
}

describe('text of the panel', () => {
  const plain = { ...options };
  before(showPrintable);
  after(() => {
    delete options.vnode;
    Object.assign(options, plain);
  });

  it('is printable in all cells, with the line breaks of titles', () => {
    const data = { object: EVIL, offset: 0, definition: null };
    const row = access({ writes: 9, data, symbol: EVIL, file: `/src/${EVIL}.c`, line: 3 });
    const whole = cacheLine([row], { space: EVIL, mapping: EVIL, threads: [{ ...thread(1), comm: EVIL }] });
    const line = unfolded(whole);
    const heat = { metric: 'contended', measure: 'contended', whole: 9, choices: [], instead: '' } as unknown as PanelHeat;
    const layout = tableLayout(undefined, 1000, {}, 'samples');
    const [lineRow] = lineRows([panelLine(whole)], DEFAULT_SORT, 'contended');
    assert.ok(lineRow);
    const cells = [
      h(LineCells, { row: lineRow, onToggle: () => undefined, layout, heat }),
      h(DetailCell, { line, columns: 4, evidence: ['clock'], isInPane: false }),
      h(AccessCells, { row: { kind: 'access', id: '1', line, access: row } as never, layout, heat, onOpen: () => undefined }),
    ];
    const texts = shown(cells);
    for (const text of texts) assert.doesNotMatch(text, /[\u202e\u2066\u200b\u001b]/u, text);
    const all = texts.join('\n');
    for (const text of [`0x404040 of ${HARMLESS}`, `${HARMLESS} 1: 1 read`, `/src/${HARMLESS}.c:3`, `${HARMLESS}.c:3`])
      assert.ok(all.includes(text), text);
    assert.ok(
      texts.some((text) => /\n/.test(text)),
      'titles of several lines',
    );
  });

  it('says of a line who waits for whom, as the report does', () => {
    const { line, waiting } = readerBesideWriter();
    const [told, silent] = [line, { ...line, victims: [] }].map((one, at) => unfoldedLine({ id: `${at}`, line: one }));
    const texts = (of: typeof told, isInPane = false): string[] =>
      shown(h(DetailCell, { line: of!, columns: 4, evidence: ['clock'], isInPane }));
    assert.ok(texts(told).includes(waiting), texts(told).join('\n'));
    assert.ok(
      texts(told).some((text) => text.includes(`\n${waiting}\n`)),
      'in the title, too',
    );
    assert.doesNotMatch(texts(silent).join('\n'), /waits/);
    const below = texts(told, true);
    for (const text of [waiting, VERDICT_MEANING[line.verdict]]) assert.ok(texts(told).includes(text) && !below.includes(text), text);
    assert.ok(below.length > 2, 'what the pane below does not say stays');
  });

  it('says first what the report could not see', async () => {
    // The page's host, which the header's buttons talk to.
    Object.assign(globalThis, { acquireVsCodeApi: () => ({}) });
    const { Header } = await import('../../webviews/panel/header');
    const blind: Blind = { share: 0.75, reasons: [{ reason: 'noInstruction', what: `code of ${EVIL} (missing)`, share: 0.75 }] };
    const heat = { metric: 'contended', measure: 'contended', whole: 0, choices: [], instead: '' } as unknown as PanelHeat;
    const header = (part: Partial<Report>): string[] =>
      shown(h(Header, { summary: { ...report([], part), title: 'a', path: 'a' }, heat, hottest: [], words, found: undefined }));
    const words: PanelWords = { summary: 'what is contended', meaning: '', lookFirst: ['Look first at it.'] };
    const texts = header({ blind });
    const sentence = `Most of this program's time (75.0%) was in code of ${HARMLESS} (missing). Nothing can be said about it.`;
    const places = [sentence, words.summary, 'Look first at it.'].map((text) => texts.indexOf(text));
    assert.ok(
      places.every((place, i) => place > (places[i - 1] ?? 0)),
      texts.join('\n'),
    );
    assert.doesNotMatch(header({}).join('\n'), /Nothing can be said/);
  });

  it('answers first: what is contended, and what helps', async () => {
    Object.assign(globalThis, { acquireVsCodeApi: () => ({}) });
    const { Answer, LookFirst } = await import('../../webviews/panel/answer');
    const place = { file: `/src/${EVIL}.c`, line: 3 };
    const words: PanelWords = {
      summary: `s ${EVIL}`,
      meaning: `m ${EVIL}`,
      lookFirst: ['Look first at ', { text: `f ${EVIL}`, place }, '.'],
    };
    const answer = (given: Partial<PanelAdvice> | null | undefined, problem = '', more = 0): string[] => {
      const advice: PanelAdvice = { title: `t ${EVIL}`, words: 'gain', opens: 'preview', reason: '' };
      const found =
        given === undefined ? undefined : { type: 'advice' as const, version: 1, advice: given && { ...advice, ...given }, more, problem };
      return shown(h(Answer, { words, found }));
    };
    for (const text of answer({}).join('\n').split('\n')) assert.doesNotMatch(text, /[\u202e\u2066\u200b\u001b]/u, text);
    const has = (texts: string[], all: string[], none: string[] = []): void => {
      for (const text of all) assert.ok(texts.includes(text), `${text} in ${texts.join('\n')}`);
      for (const text of none) assert.ok(!texts.includes(text), `no ${text} in ${texts.join('\n')}`);
    };
    has(answer({}), [`s ${HARMLESS}`, `t ${HARMLESS}`, 'gain', 'Preview Fix'], [`m ${HARMLESS}`]);
    has(answer(undefined), ['Looking for what helps…'], ['Preview Fix', `m ${HARMLESS}`]);
    has(shown(h(LookFirst, { parts: words.lookFirst })), ['Look first at ', `f ${HARMLESS}`, `/src/${HARMLESS}.c:3`]);
    has(answer(null), [`m ${HARMLESS}`], ['Preview Fix', 'Looking for what helps…']);
    has(answer(null, 'It broke.'), [`m ${HARMLESS}`, 'No advice: It broke.']);
    has(answer({ words: '', opens: 'card' }), [`m ${HARMLESS}`, 'Show Card'], ['Preview Fix']);
    has(answer(null, '', 2), [`m ${HARMLESS}`, 'All Advice (2)'], ['Preview Fix', 'Show Card']);
    has(answer({ opens: 'nothing', reason: 'why' }, '', 2), ['No edit: why', 'All Advice (3)'], ['Preview Fix', 'Show Card']);
  });

  it('folds where numbers come from, and never what could not be seen or was lost', async () => {
    Object.assign(globalThis, { acquireVsCodeApi: () => ({}) });
    const { Header } = await import('../../webviews/panel/header');
    const blind: Blind = { share: 0.3, reasons: [{ reason: 'noInstruction', what: 'code of x (missing)', share: 0.3 }] };
    const made = report([], { blind, warnings: ['a warning'], seconds: 2.71 });
    const samples = { ...made.samples, total: 1189, lost: 12 };
    const heat = { metric: 'contended', measure: 'contended', whole: 0, choices: [], instead: '' } as unknown as PanelHeat;
    const summary = { ...made, samples, title: 'a', path: 'a' };
    const tree = Header({ summary, heat, hottest: [], words: undefined, found: undefined });
    const folded = detailsOf(tree);
    assert.equal(folded.length, 1);
    const [provenance = tree] = folded;
    assert.ok(shown(provenance).includes('Clock samples, 1,189 in 2.7 s, 12 lost'), shown(provenance).join('\n'));
    assert.ok(shown(provenance).includes('Collector'));
    for (const text of ['a warning', 'code of x (missing)']) {
      assert.ok(shown(tree).join('\n').includes(text), text);
      assert.ok(!shown(provenance).join('\n').includes(text), text);
    }
  });

  it('is printable in fragments and lists, and all else stays', () => {
    assert.deepEqual(shown(h('p', { title: 'x…’\ny' }, 'é ', [EVIL, h('b', null, 7)])), ['x…’\ny', 'é ', HARMLESS, '7']);
    assert.deepEqual(shown(h(Fragment, null, EVIL)), [HARMLESS]);
  });
});
