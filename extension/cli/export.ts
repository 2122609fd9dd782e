// `cacheline export`: a recording in a format that other programs read.
import { version } from '../../package.json';
import type { NativeEngine } from '../engine/native';
import { headOf, linesOf } from '../engine/report-pieces';
import { tableRowsOf } from '../engine/table-pieces';
import type { TableRow } from '../protocol/table';
import { checkOf } from '../session/check/check';
import { repositoryRoot } from '../session/check/repository';
import { sarifLog } from '../session/check/sarif';
import { sumsOf } from '../session/compare/sums';
import { MARKDOWN_TABLES, reportMarkdown } from '../session/export/report-markdown';
import { DONE } from '../session/record/exit-status';
import { csvRows } from '../session/report/report-csv';
import type { ExportArguments, ExportFormat } from './export-arguments';
import { wrong } from './options';
import { writeOutput } from './output-file';
import type { Analysis } from './recording-arguments';
import { recordingPath, showingProgress } from './recording-input';
import { printAll, type TextParts } from './terminal';

export async function exportRecording(engine: NativeEngine, { path: asked, to, output, analysis }: ExportArguments): Promise<number> {
  if (to === 'pprof' && output === undefined && process.stdout.isTTY)
    throw wrong('A pprof profile is not text: name a file with -o.', 'export');
  const path = await recordingPath('export', asked, analysis);
  const content = await showingProgress(path, (onProgress) => EXPORTERS[to](engine, { ...analysis, path }, { onProgress }));
  if (output === undefined) await printAll(content);
  else await writeOutput(output, content);
  return DONE;
}

type Exporter = (
  engine: NativeEngine,
  params: Analysis & { path: string },
  options: { onProgress: (share: number) => void },
) => Promise<TextParts>;

const EXPORTERS: Record<ExportFormat, Exporter> = {
  json: async (engine, params, options) => [...(await engine.analyzeTexts({ ...params, showAll: false }, options)).pieces, '\n'],
  csv: async (engine, params, options) => {
    const { pieces } = await engine.analyzeTexts({ ...params, showAll: false }, options);
    return csvRows(headOf(pieces), linesOf(pieces));
  },
  markdown: async (engine, params, options) => {
    const { report, tables } = await sumsOf(engine, MARKDOWN_TABLES, params, options);
    return [reportMarkdown(report, tables)];
  },
  sarif: async (engine, params, options) => {
    const sums = await sumsOf(engine, [], params, options);
    const all = checkOf(sums, { maxContended: 0, today: '' });
    return [JSON.stringify(sarifLog(all, { version, root: repositoryRoot(process.cwd()) })), '\n'];
  },
  pprof: async (engine, params, options) => {
    const { report, tables } = await engine.sums({ ...params, by: [['process']], lines: true, callers: true }, options);
    // Loaded where it is needed: few want it.
    const { pprofProfile } = await import('../session/export/pprof');
    const rows = tables.flatMap((pieces) => [...tableRowsOf(pieces)]);
    return [pprofProfile({ report: headOf(report), lines: linesOf(report), nsPerSample: nsPerSample(rows) })];
  },
};

function nsPerSample(rows: readonly TableRow[]): number | null {
  const contended = rows.reduce((sum, row) => sum + row.contended, 0);
  if (rows.some(({ contendedNs }) => contendedNs === null)) return null;
  return contended === 0 ? 0 : rows.reduce((sum, { contendedNs }) => sum + (contendedNs ?? 0), 0) / contended;
}
