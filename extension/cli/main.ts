// The `cacheline` command. It loads the addon in its own process: it has nothing else to lose.
import { version } from '../../package.json';
import { loadAddon, NativeEngine } from '../engine/native';
import { EngineError } from '../protocol/engine';
import { DONE, exitStatusOf, INTERNAL_ERROR } from '../session/record/exit-status';
import { COMMANDS, parseArguments } from './arguments';
import { check } from './check';
import { completionScript } from './completions';
import { diff } from './diff';
import { doctor } from './doctor';
import { exportRecording } from './export';
import { layout } from './layout';
import { record } from './record';
import { repeat } from './repeat';
import { report } from './report';
import { table } from './table';
import { chooseTerminal, print, say, watchStreams } from './terminal';
import { threads } from './threads';
import { trace } from './trace';
import { where } from './where';
import { workset } from './workset';

async function run(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  if (parsed.command !== 'help' && parsed.command !== 'version') chooseTerminal(parsed);
  switch (parsed.command) {
    case 'help':
      print(parsed.text);
      return DONE;
    case 'version':
      print(`cacheline ${version}\n`);
      return DONE;
    case 'record':
      return parsed.repetition === undefined
        ? record(new NativeEngine(loadAddon()), parsed)
        : repeat(new NativeEngine(loadAddon()), parsed, parsed.repetition);
    case 'report':
      return parsed.table === undefined
        ? report(new NativeEngine(loadAddon()), parsed)
        : table(new NativeEngine(loadAddon()), parsed, parsed.table);
    case 'advise': {
      // Loaded where it is needed: it brings a parser along.
      const { advise } = await import('./advise');
      return advise(new NativeEngine(loadAddon()), parsed);
    }
    case 'threads':
      return threads(new NativeEngine(loadAddon()), parsed);
    case 'workset':
      return workset(new NativeEngine(loadAddon()), parsed);
    case 'diff':
      return diff(new NativeEngine(loadAddon()), parsed);
    case 'check':
      return check(new NativeEngine(loadAddon()), parsed);
    case 'export':
      return exportRecording(new NativeEngine(loadAddon()), parsed);
    case 'trace':
      return trace(new NativeEngine(loadAddon()), parsed);
    case 'layout':
      return layout(new NativeEngine(loadAddon()), parsed);
    case 'where':
      return where(new NativeEngine(loadAddon()), parsed);
    case 'completions':
      print(completionScript(parsed.shell, COMMANDS));
      return DONE;
    case 'doctor':
      return doctor(new NativeEngine(loadAddon()), parsed);
  }
}

function explain(error: unknown): number {
  if (error instanceof EngineError) {
    say(error.message);
    if (error.nextStep !== '') say(error.nextStep);
    return exitStatusOf(error.kind);
  }
  say(`This is a bug of Cacheline Lens: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return INTERNAL_ERROR;
}

watchStreams();
// The exit code is set instead of calling process.exit(), which would cut output that is still in a pipe.
void run(process.argv.slice(2))
  .catch(explain)
  .then((status) => {
    process.exitCode = status;
  });
