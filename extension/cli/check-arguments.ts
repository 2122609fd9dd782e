// The options of `cacheline check`.
import { RULES, type Rule } from '../protocol/check';
import { USUAL_LIMIT } from '../session/check/check';
import { number, oneOf, parse, wrong, type Options } from './options';
import {
  analysisOf,
  INPUT_HELP,
  NAMES_HELP,
  parseWidth,
  recordingOf,
  RECORDING_OPTIONS,
  SELECTION_HELP,
  SELECTION_OPTIONS,
  type Analysis,
} from './recording-arguments';

export interface CheckArguments {
  command: 'check';
  /** A recording; absent with a program, and where none is named: then the newest one. */
  path?: string;
  /** To be recorded first; empty: none. */
  program: string[];
  /** Share of all samples. */
  maxContended?: number;
  failOn?: Rule[];
  baseline?: string;
  accept?: string;
  allowBlind: boolean;
  format: 'text' | 'json' | 'sarif' | 'github';
  output?: string;
  /** Of the text. */
  width?: number;
  analysis: Analysis;
}

export const CHECK_HELP = `Usage: cacheline check [options] [RECORDING]
       cacheline check [options] -- PROGRAM [ARGS]

For CI: fails where threads wait for a cache line more than a limit. PROGRAM is
recorded first, as by "cacheline record"; its recording is kept. Without options
a finding is data of an object at which ${USUAL_LIMIT * 100} % of all samples or more wait
falsely, whatever the word of its verdict.

Status: 0 nothing new was found, 1 something was, 2 wrong usage, 3 a file cannot
be read, or nothing was found and half of the samples or more say nothing.

${INPUT_HELP}      --max-contended P instead: all contended samples of an object, and more than
                        P % of all samples
      --fail-on LIST    only data of these verdicts, and all of its contended
                        samples: false, true, mixed
      --baseline FILE   what was there before: a recording, or the output of
                        check --format json. Only what is new or has grown
                        beyond chance fails
      --accept FILE     what is accepted: a JSON list of rule, type, member,
                        reason and until
      --allow-blind     pass where half of the samples or more say nothing, too
      --format FORMAT   text (default), json (schema cacheline-check/1), sarif
                        (2.1.0) or github (annotations; and a summary where
                        GITHUB_STEP_SUMMARY names a file)
  -o, --output FILE     write the result there instead of to standard output
      --width N         columns of the text; by default the terminal's, else 80
  -h, --help            this text

${SELECTION_HELP}
${NAMES_HELP}`;

const CHECK_OPTIONS = {
  ...SELECTION_OPTIONS,
  input: RECORDING_OPTIONS.input,
  width: RECORDING_OPTIONS.width,
  'max-contended': { type: 'string' },
  'fail-on': { type: 'string' },
  baseline: { type: 'string' },
  accept: { type: 'string' },
  'allow-blind': { type: 'boolean' },
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseCheck(args: readonly string[]): CheckArguments | 'help' {
  const end = args.indexOf('--');
  const { values, positionals } = parse('check', end < 0 ? args : args.slice(0, end), CHECK_OPTIONS);
  if (values.help) return 'help';
  const program = end < 0 ? [] : args.slice(end + 1);
  if (end >= 0 && program.length === 0) throw wrong('There is no program behind --.', 'check');
  const path = recordingOf('check', values.input, positionals);
  if (path !== undefined && program.length > 0)
    throw wrong(`check takes a recording or a program, and there are '${path}' and '${program[0] ?? ''}'.`, 'check');
  for (const option of ['baseline', 'accept', 'output'] as const)
    if (values[option] === '') throw wrong(`--${option} needs the name of a file.`, 'check');
  const percents = 'a percentage of all samples, 0 to 100';
  const percent = values['max-contended'];
  return {
    command: 'check',
    ...(path === undefined ? {} : { path }),
    program,
    ...(percent === undefined
      ? {}
      : { maxContended: number('check', '--max-contended', percent, percents, (value) => value >= 0 && value <= 100) / 100 }),
    ...(values['fail-on'] === undefined ? {} : { failOn: rulesOf(values['fail-on']) }),
    ...(values.baseline === undefined ? {} : { baseline: values.baseline }),
    ...(values.accept === undefined ? {} : { accept: values.accept }),
    allowBlind: values['allow-blind'] ?? false,
    format: oneOf('check', '--format', values.format ?? 'text', ['text', 'json', 'sarif', 'github']),
    ...(values.output === undefined ? {} : { output: values.output }),
    ...(values.width === undefined ? {} : { width: parseWidth('check', values.width) }),
    analysis: analysisOf('check', values),
  };
}

/** "false", "false-sharing" and "false sharing" are one; as `verdict:` of a filter takes them. */
function rulesOf(text: string): Rule[] {
  const rules = text.split(',').map((word) => {
    const name = word.trim().toLowerCase().replace(' ', '-');
    const found = RULES.find((rule) => rule === name || rule === `${name}-sharing`);
    if (found === undefined) throw wrong(`--fail-on takes false, true, mixed, or several with commas between, not '${word}'.`, 'check');
    return found;
  });
  return [...new Set(rules)];
}
