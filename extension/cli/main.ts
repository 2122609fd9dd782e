// The `cacheline` command. It loads the addon in its own process: it has nothing else to lose.
import { version } from '../../package.json';
import { loadAddon, NativeEngine } from '../engine/native';
import { EngineError } from '../protocol/engine';
import { DONE, exitStatusOf, INTERNAL_ERROR } from '../session/record/exit-status';
import { COMMANDS, parseArguments } from './arguments';
import { report } from './report';
import { chooseTerminal, print, say, watchStreams } from './terminal';

/** A command's code is loaded with it: `advise` brings a parser along. */
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
    case 'record': {
      if (parsed.repetition === undefined) return (await import('./record')).record(new NativeEngine(loadAddon()), parsed);
      return (await import('./repeat')).repeat(new NativeEngine(loadAddon()), parsed, parsed.repetition);
    }
    case 'report':
      if (parsed.table === undefined) return report(new NativeEngine(loadAddon()), parsed);
      return (await import('./table')).table(new NativeEngine(loadAddon()), parsed, parsed.table);
    case 'advise':
      return (await import('./advise')).advise(new NativeEngine(loadAddon()), parsed);
    case 'threads':
      return (await import('./threads')).threads(new NativeEngine(loadAddon()), parsed);
    case 'workset':
      return (await import('./workset')).workset(new NativeEngine(loadAddon()), parsed);
    case 'diff':
      return (await import('./diff')).diff(new NativeEngine(loadAddon()), parsed);
    case 'check':
      return (await import('./check')).check(new NativeEngine(loadAddon()), parsed);
    case 'export':
      return (await import('./export')).exportRecording(new NativeEngine(loadAddon()), parsed);
    case 'trace':
      return (await import('./trace')).trace(new NativeEngine(loadAddon()), parsed);
    case 'layout':
      return (await import('./layout')).layout(new NativeEngine(loadAddon()), parsed);
    case 'where':
      return (await import('./where')).where(new NativeEngine(loadAddon()), parsed);
    case 'completions':
      print((await import('./completions')).completionScript(parsed.shell, COMMANDS));
      return DONE;
    case 'doctor':
      return (await import('./doctor')).doctor(new NativeEngine(loadAddon()), parsed);
  }
}

function explain(error: unknown): number {
  if (error instanceof EngineError) {
    say(error.message);
    if (error.nextStep !== '') say(error.nextStep);
    return exitStatusOf(error.kind);
  }
  say(`This is a bug in Cacheline Lens: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return INTERNAL_ERROR;
}

watchStreams();
// The exit code is set instead of calling process.exit(), which would cut output that is still in a pipe.
void run(process.argv.slice(2))
  .catch(explain)
  .then((status) => {
    process.exitCode = status;
  });
