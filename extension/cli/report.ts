// `cacheline report`: analyses a recording and prints it.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { NativeEngine } from '../engine/native';
import { EngineError } from '../protocol/engine';
import type { Report } from '../protocol/report';
import { DONE } from '../session/exit-status';
import { SUFFIX } from '../session/recording-folder';
import { reportText } from '../session/report-text';
import type { ReportArguments } from './arguments';
import { outputStyle, outputWidth, print, ProgressLine, say } from './terminal';

/** A short analysis shows no progress. */
const PROGRESS_AFTER_MS = 500;

export async function report(engine: NativeEngine, { path: given, format, showAll, width }: ReportArguments): Promise<number> {
  const path = given ?? (await newestRecording(process.cwd()));
  if (given === undefined) say(`reading ${path}`);
  const line = new ProgressLine();
  const started = performance.now();
  let json: string;
  try {
    json = await engine.analyzeText(
      { path, showAll },
      {
        onProgress: (share) => {
          if (performance.now() - started > PROGRESS_AFTER_MS) line.show(`reading ${path}: ${Math.floor(share * 100)} %`);
        },
      },
    );
  } finally {
    line.clear();
  }
  if (format === 'json') print(json.endsWith('\n') ? json : `${json}\n`);
  else
    print(
      reportText(JSON.parse(json) as Report, { width: width ?? outputWidth(), style: outputStyle(), path, folder: process.cwd(), showAll }),
    );
  return DONE;
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
