// The arguments of `cacheline completions`.
import { GENERAL, oneOf, parse, terminalOf, wrong, type Command, type TerminalChoice } from './options';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export interface CompletionsArguments extends TerminalChoice {
  command: 'completions';
  shell: Shell;
}

export const COMPLETIONS = {
  name: 'completions',
  brief: 'complete commands and options in bash, zsh or fish',
  forms: [SHELLS.join('|')],
  about: ['Prints a script that completes the commands, options and values of cacheline in a shell.'],
  operands: SHELLS,
  groups: [GENERAL],
  notes: [
    'bash: add to ~/.bashrc: source <(cacheline completions bash)',
    'zsh: add to ~/.zshrc, after compinit: source <(cacheline completions zsh)',
    'fish: cacheline completions fish > ~/.config/fish/completions/cacheline.fish',
  ],
} as const satisfies Command;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseCompletions(args: readonly string[]): CompletionsArguments | 'help' {
  const { values, positionals } = parse(COMPLETIONS, args);
  if (values.help) return 'help';
  const [shell, extra] = positionals;
  if (shell === undefined) throw wrong(`completions needs the name of a shell: ${SHELLS.join(', ')}.`, 'completions');
  if (extra !== undefined) throw wrong(`completions takes one shell, but '${extra}' is a second.`, 'completions');
  return { command: 'completions', shell: oneOf('completions', 'The shell', shell, SHELLS), ...terminalOf(COMPLETIONS, values) };
}
