// Started by translated.test.ts: prints what the editor shows of made-up recordings in a made-up language, whose texts have no Latin
// letter. Modules make texts when they are loaded, so that all of them are loaded behind the translation.
import type { DoctorReport } from '../../extension/protocol/engine';
import { useTranslations } from '../../extension/protocol/l10n';
import type { ToPanel } from '../../extension/protocol/panel';
import type { Report, SourcePlace } from '../../extension/protocol/report';
import { foreign } from './translated-names';

useTranslations(new Proxy<Record<string, string>>({}, { get: (_, text) => foreign(String(text)) }));

/** What `cacheline doctor` prints of a machine: all facts that it knows. */
const FACTS: DoctorReport['machine'] = {
  ...{ hostname: 'home', kernel: '6.18', architecture: 'x86_64', cpu: null, cpuId: null, cpus: 2, numaNodes: 1, lineSize: 64 },
  ...{ hypervisor: null, container: null, pmus: [], perfEventParanoid: 2, perfEventMlockKb: 516, maxSampleRate: 100_000, kptrRestrict: 0 },
  ...{ ptraceScope: null, memlockBytes: 8_388_608, capabilities: [], initialUserNamespace: true, seccomp: 0, lockdown: null },
  debugRegisters: 4,
};

/** Each text below its view. */
async function shownTexts(): Promise<Record<string, unknown>> {
  const { functionTable, timeTable, typeTable } = await import('./table-builder');
  const { groupTable, pairsTable, timeline } = await import('../../extension/session/table/tab-content');
  const { sampled, uneven } = await import('./threads-builder');
  const { threadsTab } = await import('../../extension/session/threads/threads-tab');
  const { machineView } = await import('../../extension/session/machine/machine-view');
  const { firstWords } = await import('../../extension/session/report/first-words');
  const { armReport, intelReport } = await import('./pmu-reports');
  const { measuredBy, readerBesideWriter, report, unfolded } = await import('./report-builder');
  const { lineHoverText } = await import('../../extension/session/hover/hover-text');
  const { ReportProfile } = await import('../../extension/session/profile/report-profile');
  const { ShownProfile } = await import('../../extension/session/profile/shown-profile');
  const { rowMarkdown } = await import('../../extension/session/export/row-text');
  const { lineDetail } = await import('../../extension/session/profile/line-detail');
  const { queueHeat } = await import('./type-builder');
  const { layoutCard } = await import('../../extension/session/layout/layout-card');
  const { cardOf } = await import('../../extension/session/layout/type-heat');
  const { diffMarkdown } = await import('../../extension/session/compare/diff-text');
  const { compareView } = await import('../../extension/session/compare/compare-view');
  const { COMPARISON_TABLES, comparisonOf } = await import('../../extension/session/compare/comparison');
  const { sums } = await import('./sums-builder');
  const { groupsOf } = await import('../../webviews/panel/columns');
  const { TABS } = await import('../../webviews/panel/tab-views');
  const { KEY_WORDS } = await import('../../extension/protocol/table');
  const { FLAG_MEANING, FLAG_WORDS, VERDICT_WORDS } = await import('../../extension/protocol/words');
  const { KIND_WORDS } = await import('../../extension/protocol/roles');
  const nowhere = (): SourcePlace | null => null;
  const clock = report([{ ...readerBesideWriter().line, flags: ['straddling', 'adjacent', 'mixed-use', 'lock'] }]);
  const detail = await lineDetail(await ShownProfile.of(new ReportProfile(clock), 'r', 'r'), '0');
  const waits = (contended: number) => [
    { type: 'Worker', member: 'ticks', object: 'workers', function: 'work', source: '/src/worker.c:20', contended },
  ];
  const comparison = comparisonOf(sums(COMPARISON_TABLES, waits(400)), sums(COMPARISON_TABLES, waits(100)), []);
  return {
    tabs: TABS.map(({ title, meaning }) => [title, meaning]),
    words: [KEY_WORDS, VERDICT_WORDS, KIND_WORDS],
    data: groupTable({ ...typeTable, by: ['type'] }, { rows: 3, contended: 9 }, 'type', '/code', nowhere),
    functions: pairsTable(functionTable, '/code', nowhere),
    timeline: timeline(timeTable),
    threads: [uneven, sampled].map((list) => threadsTab(list, { recording: null })),
    columns: groupsOf(measuredBy(intelReport().lines), ['hitm']).map(({ name, title, columns }) => [
      [name, title],
      ...columns.map((one) => [one.name, one.title]),
    ]),
    answers: [clock, intelReport(), armReport(), report([])].map(firstWords),
    hovers: [clock, intelReport()].map((of) => {
      const [cacheLine] = of.lines;
      return cacheLine && lineHoverText(of, [{ cacheLine, access: cacheLine.accesses[0]! }], 'contended');
    }),
    detail: [detail.verdict, detail.reasons],
    markdown: [...clock.lines.map((line) => rowMarkdown(line)), diffMarkdown(comparison.diff)],
    flags: [FLAG_WORDS, FLAG_MEANING],
    card: layoutCard(cardOf(queueHeat()), { report: clock, measure: 'contended', notes: [] }, { theme: 'dark', text: true }),
    machine: machineView({ collectors: [{ name: 'agent', usable: true, blockers: [] }], machine: FACTS }, { state: 'none' }),
    unfolded: unfolded(clock.lines[0]!),
    panel: [await panelReport(clock), await panelReport(intelReport())],
    comparison: compareView(comparison),
  };
}

/** What the host sends the panel first. */
async function panelReport(report: Report): Promise<ToPanel> {
  const { ReportProfile } = await import('../../extension/session/profile/report-profile');
  const { ShownProfile } = await import('../../extension/session/profile/shown-profile');
  const { panelWords } = await import('../../extension/session/report/first-words');
  const { HEAT_METRICS, MEASURE_WORDS, measureOf, whyMissing, wholeOf } = await import('../../extension/protocol/measure');
  const { panelLine } = await import('./report-builder');
  const profile = await ShownProfile.of(new ReportProfile(report), 'r', 'r');
  const now = measureOf(report, 'auto');
  const choices = HEAT_METRICS.map((metric) => ({ metric, name: MEASURE_WORDS[metric].name, missing: whyMissing(report, metric) }));
  return {
    type: 'report',
    version: 1,
    summary: { ...report, title: 'r', path: 'r' },
    words: panelWords(profile),
    filter: '',
    heat: { ...now, whole: wholeOf(report, now.measure), choices, instead: '' },
    lines: report.lines.map(panelLine),
    examples: report.lines.flatMap(({ accesses }) => accesses),
    total: report.lines.length,
    hottest: report.objects,
    headFollows: false,
  };
}

void shownTexts().then((texts) => process.stdout.write(JSON.stringify(texts)));
