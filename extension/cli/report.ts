// `cacheline report`: analyses a recording and prints it.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnalysisTexts, NativeEngine } from '../engine/native';
import { headOf, linesOf, reportOf } from '../engine/report-pieces';
import { EngineError, type AnalyzeParams, type TableOptions } from '../protocol/engine';
import { c2cStatisticsText, c2cText } from '../session/report/c2c-text';
import { DONE } from '../session/record/exit-status';
import { SUFFIX } from '../session/record/recording-folder';
import { csvRows } from '../session/report/report-csv';
import { reportText } from '../session/report/report-text';
import { COLOURED } from '../session/text/terminal-text';
import { wrong } from './options';
import { page } from './pager';
import type { ReportArguments } from './report-arguments';
import { outputStyle, outputWidth, printAll, ProgressLine, say, type TextParts } from './terminal';

/** A short analysis shows no progress. */
const PROGRESS_AFTER_MS = 500;

export async function report(engine: NativeEngine, args: ReportArguments): Promise<number> {
  await checkFiles(args.analysis);
  const path = args.path ?? (await newestRecording(process.cwd()));
  if (args.path === undefined) say(`reading ${path}`);
  const tables = args.format === 'text' && !args.statsOnly ? { tables: tableOptions(args) } : {};
  const texts = await analyze(engine, { ...args.analysis, path, showAll: args.showAll, ...tables });
  const { pieces } = texts;
  const head = headOf(pieces);
  const [option] = args.dataSourceOptions;
  if (head.c2c === undefined && option !== undefined) {
    // As the engine says it of the options that it refuses itself.
    throw new EngineError(
      'usage',
      `this recording has no data sources, which ${option} needs.`,
      'Leave the option out: it is for recordings of memory samples.',
    );
  }
  if (args.format === 'json') {
    await printAll([...pieces, '\n']);
  } else if (args.format === 'csv') {
    await printAll(csvRows(head, linesOf(pieces)));
  } else {
    const text = args.statsOnly ? [c2cStatisticsText(head, widthOf(args))] : textOf(texts, path, args);
    if (args.pager) await page(text);
    else await printAll(text);
  }
  return DONE;
}

function widthOf({ width = outputWidth() }: ReportArguments): number {
  return width;
}

function tableOptions(args: ReportArguments): TableOptions {
  const { nodeInfo, fullSymbols, source } = args;
  return { width: widthOf(args), coloured: outputStyle() === COLOURED, folder: process.cwd(), nodeInfo, fullSymbols, source };
}

function textOf({ pieces, tables }: AnalysisTexts, path: string, args: ReportArguments): TextParts {
  const result = reportOf(pieces);
  const { fullSymbols, source } = args;
  const options = { width: widthOf(args), style: outputStyle(), path, folder: process.cwd(), fullSymbols, source };
  return result.c2c === undefined
    ? [reportText(result, { ...options, showAll: args.showAll, callers: args.analysis.callers === true })]
    : c2cText(result, tables, options);
}

async function analyze(engine: NativeEngine, params: AnalyzeParams): Promise<AnalysisTexts> {
  const line = new ProgressLine();
  const started = performance.now();
  try {
    return await engine.analyzeTexts(params, {
      onProgress: (share) => {
        if (performance.now() - started > PROGRESS_AFTER_MS) line.show(`reading ${params.path}: ${Math.floor(share * 100)} %`);
      },
    });
  } finally {
    line.clear();
  }
}

/** @throws EngineError 'usage' where what an option names is not there */
async function checkFiles({ symfs, vmlinux, debuginfod }: ReportArguments['analysis']): Promise<void> {
  for (const [option, path, kind] of [
    ['--symfs', symfs, 'folder'],
    ['--vmlinux', vmlinux, 'file'],
  ] as const) {
    if (path === undefined) continue;
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || found.isDirectory() !== (kind === 'folder')) throw wrong(`${option} names no ${kind}: '${path}'.`, 'report');
  }
  if (debuginfod && (process.env['DEBUGINFOD_URLS'] ?? '').trim() === '') {
    throw wrong('--debuginfod asks the servers that DEBUGINFOD_URLS names, and it names none.', 'report');
  }
}

/**
 * The *.cacheline folder that was written to last, else perf.data.
 * @throws EngineError 'unreadable' where there is neither
 */
export async function newestRecording(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  let newest: { name: string; time: number } | undefined;
  for (const { name } of entries.filter((entry) => entry.name.endsWith(SUFFIX) && !entry.isFile())) {
    const found = await lastWritten(join(folder, name, 'perf.data'));
    if (found !== undefined && (newest === undefined || found > newest.time)) newest = { name, time: found };
  }
  if (newest !== undefined) return newest.name;
  if (entries.some(({ name }) => name === 'perf.data')) return 'perf.data';
  throw new EngineError(
    'unreadable',
    `There is no recording in ${folder}: no *${SUFFIX} folder with a perf.data in it, and no perf.data.`,
    'Make one with: cacheline record -- PROGRAM',
  );
}

async function lastWritten(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return undefined;
    throw error;
  }
}
