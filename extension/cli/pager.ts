// Long texts go through a pager where a person reads them on a terminal.
import { LaunchError, splitArguments } from '../session/record/launch';
import { isCapableTerminal, printAll, say, type TextParts } from './terminal';

/** As git sets it: leave at once where one screen is enough, pass colours, leave the text on the screen. */
const LESS_OPTIONS = 'FRX';

/** What reads the text, without a shell; undefined where nothing should: PAGER is empty or "cat", or standard output is no terminal. */
function pagerCommand(environment: NodeJS.ProcessEnv): string[] | undefined {
  const given = environment['PAGER'];
  let command: string[];
  try {
    command = given === undefined ? ['less'] : splitArguments(given);
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    say(`PAGER is not used: ${error.message}`);
    return undefined;
  }
  return command.length === 0 || command[0] === 'cat' ? undefined : command;
}

/** Shows the text, and waits until the reader has left the pager. */
export async function page(text: TextParts): Promise<void> {
  const [program, ...args] = (isCapableTerminal() ? pagerCommand(process.env) : undefined) ?? [];
  if (program === undefined || !(await readBy(program, args, text))) await printAll(text);
}

/** @returns false where the pager could not be started, so that nobody has seen the text */
async function readBy(program: string, args: readonly string[], text: TextParts): Promise<boolean> {
  // Loaded where it is needed: it takes a twentieth of the time that Node takes to start.
  const { spawn } = await import('node:child_process');
  const env = { ...process.env, LESS: process.env['LESS'] ?? LESS_OPTIONS };
  const pager = spawn(program, args, { env, stdio: ['pipe', 'inherit', 'inherit'] });
  // Ctrl-C ends a search in the pager, not the pager; we have to be there as long as it is.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  // The reader may leave before the end of the text.
  pager.stdin.on('error', ignore);
  for (const part of text) pager.stdin.write(part);
  pager.stdin.end();
  return new Promise<boolean>((resolve) => {
    pager.on('error', (error) => {
      if (process.env['PAGER'] !== undefined) say(`the pager ${program} cannot be started: ${error.message}`);
      resolve(false);
    });
    pager.on('close', () => resolve(true));
  }).finally(() => process.off('SIGINT', ignore));
}
