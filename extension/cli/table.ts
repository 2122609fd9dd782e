// `cacheline report --by`: a recording added up by keys.
import type { NativeEngine } from '../engine/native';
import { tableHeadOf, tableRowsOf } from '../engine/table-pieces';
import { DONE } from '../session/record/exit-status';
import { tableCsv } from '../session/table/table-csv';
import { tableText } from '../session/table/table-text';
import { page } from './pager';
import { recordingPath, showingProgress } from './recording-input';
import type { ReportArguments } from './report-arguments';
import type { TableArguments } from './table-arguments';
import { outputStyle, outputWidth, printAll } from './terminal';

export async function table(engine: NativeEngine, args: ReportArguments, { by, bins }: TableArguments): Promise<number> {
  const path = await recordingPath('report', args.path, args.analysis);
  const params = { ...args.analysis, path, by, ...(bins === undefined ? {} : { bins }) };
  const pieces = await showingProgress(path, (onProgress) => engine.table(params, { onProgress }));
  if (args.format === 'json') {
    await printAll([...pieces, '\n']);
  } else if (args.format === 'csv') {
    await printAll(tableCsv(tableHeadOf(pieces), tableRowsOf(pieces)));
  } else {
    const { width = outputWidth(), showAll } = args;
    const text = tableText(tableHeadOf(pieces), [...tableRowsOf(pieces)], {
      width,
      style: outputStyle(),
      folder: process.cwd(),
      path,
      showAll,
    });
    if (args.pager) await page([text]);
    else await printAll([text]);
  }
  return DONE;
}
