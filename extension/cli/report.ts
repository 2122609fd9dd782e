// `cacheline report`: analyses a recording and prints it.
import type { AnalysisTexts, NativeEngine } from '../engine/native';
import { headOf, linesOf, reportOf } from '../engine/report-pieces';
import { EngineError, type AnalyzeParams, type TableOptions } from '../protocol/engine';
import { c2cStatisticsText, c2cText } from '../session/report/c2c-text';
import { DONE } from '../session/record/exit-status';
import { csvRows } from '../session/report/report-csv';
import { reportText } from '../session/report/report-text';
import { COLOURED } from '../session/text/terminal-text';
import { page } from './pager';
import { recordingPath, showingProgress } from './recording-input';
import type { ReportArguments } from './report-arguments';
import { outputStyle, outputWidth, printAll, type TextParts } from './terminal';

export async function report(engine: NativeEngine, args: ReportArguments): Promise<number> {
  const path = await recordingPath('report', args.path, args.analysis);
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
  return showingProgress(params.path, (onProgress) => engine.analyzeTexts(params, { onProgress }));
}
