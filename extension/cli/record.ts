// `cacheline record`: runs and records a program. Standard output belongs to the program alone.
import { NativeEngine } from '../engine/native';
import type { RecordProgress } from '../protocol/engine';
import { DONE, programStatus } from '../session/exit-status';
import { joinArguments } from '../session/launch';
import { recordProgram, type Recording } from '../session/profile';
import { readablePath } from '../session/source-path';
import { byteSize, count, plural } from '../session/terminal-text';
import type { RecordArguments } from './arguments';
import { ProgressLine, say } from './terminal';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const OWN_WAY_MS = 1000;

/** @returns the program's own exit status, 128+signal where it died of one. */
export async function record(engine: NativeEngine, args: RecordArguments): Promise<number> {
  const stop = new AbortController();
  const line = new ProgressLine();
  let signals = 0;
  // Every signal is taken until the very end, and the recording is closed whatever comes: within 5 s of asking the program to end.
  for (const name of STOP_SIGNALS) {
    process.on(name, () => {
      if (++signals === 1) line.show(`${name}: ending the recording`);
      // The terminal's Ctrl-C went to the program too: it may end in its own way first.
      if (name === 'SIGINT' && signals === 1) setTimeout(() => stop.abort(), OWN_WAY_MS).unref();
      else stop.abort();
    });
  }
  try {
    const recording = await recordProgram(
      engine,
      {
        command: args.program,
        frequency: args.frequency,
        durationSeconds: args.durationSeconds,
        callchains: args.callchains,
        ...(args.heap === undefined ? {} : { heap: args.heap }),
        stdio: 'inherit',
        output: { parent: process.cwd(), force: args.force, ...(args.directory === undefined ? {} : { directory: args.directory }) },
      },
      {
        stop: stop.signal,
        onProgress: (progress) => {
          if (signals === 0) line.show(progressText(progress));
        },
      },
    );
    line.clear();
    summarize(recording, args);
    return recording.result.exitStatus === null && recording.result.signal === null ? DONE : programStatus(recording.result);
  } finally {
    line.clear();
  }
}

function progressText({ elapsedSeconds, samples, lost, bytes }: RecordProgress): string {
  const lostText = lost > 0 ? `, ${count(lost)} lost` : '';
  return `recording ${elapsedSeconds.toFixed(1)} s, ${plural(samples, 'sample')}, ${byteSize(bytes)}${lostText} (Ctrl-C ends and keeps it)`;
}

function summarize({ path, result }: Recording, { durationSeconds }: RecordArguments): void {
  for (const warning of result.warnings) say(`warning: ${warning}`);
  if (result.durationReached) say(`the duration of ${durationSeconds} s was reached, so the program was ended`);
  const shown = readablePath(path, process.cwd());
  const heap = result.heap === null ? '' : `, ${plural(result.heap.blocks, 'heap block')}`;
  say(
    `${plural(result.samples, 'sample')} in ${result.seconds.toFixed(1)} s, ${count(result.lost)} lost${heap}, recorded in ${shown}; ` +
      `next: cacheline report ${joinArguments([shown])}`,
  );
}
