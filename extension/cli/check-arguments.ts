// The options of `cacheline check`.
import { RULES, type Rule } from '../protocol/check';
import { USUAL_LIMIT } from '../session/check/check';
import { GENERAL, number, oneOf, parse, terminalOf, wrong, type Command, type TerminalChoice } from './options';
import { analysisOf, INPUT, NAMES, parseWidth, recordingOf, SELECTION, WIDTH, type Analysis } from './recording-arguments';

const FORMATS = ['text', 'json', 'sarif', 'github'] as const;

export interface CheckArguments extends TerminalChoice {
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
  format: (typeof FORMATS)[number];
  output?: string;
  /** Of the text. */
  width?: number;
  analysis: Analysis;
}

export const CHECK = {
  name: 'check',
  brief: 'pass or fail, for CI',
  forms: ['[options] [RECORDING]', '[options] -- PROGRAM [ARGS]'],
  about: [
    'For CI: fails where threads wait for a cache line more than a limit. PROGRAM is recorded first, as by "cacheline record"; its ' +
      `recording is kept. Without options, a finding is data of an object at which at least ${USUAL_LIMIT * 100}% of all samples wait falsely, ` +
      'whatever its verdict.',
    'Status: 0 no new finding, 1 a new finding, 2 wrong usage, 3 a file cannot be read, or there is no new finding and at least half of ' +
      'the samples say nothing.',
  ],
  operands: 'files',
  program: 'separator',
  groups: [
    {
      options: {
        ...INPUT,
        'max-contended': {
          type: 'string',
          value: 'P',
          help: 'count all contended samples of an object instead, and fail above P% of all samples',
        },
        'fail-on': {
          type: 'string',
          value: 'LIST',
          values: ['false', 'true', 'mixed'],
          list: true,
          help: 'count only data with these verdicts, and all of its contended samples: false, true, mixed',
        },
        baseline: {
          type: 'string',
          value: 'FILE',
          values: 'files',
          help: 'compare with a recording, or with the output of check --format json: only findings that are new or have grown beyond chance fail',
        },
        accept: {
          type: 'string',
          value: 'FILE',
          values: 'files',
          help: 'a file of accepted findings: a JSON list of rule, type, member, reason and until',
        },
        'allow-blind': {
          type: 'boolean',
          help: 'pass even where at least half of the samples say nothing, or a writer cannot be excluded',
        },
        format: {
          type: 'string',
          value: 'FORMAT',
          values: FORMATS,
          help:
            'text (default), json (schema cacheline-check/1), sarif (2.1.0) or github (annotations, and a summary where ' +
            'GITHUB_STEP_SUMMARY names a file)',
        },
        output: { type: 'string', short: 'o', value: 'FILE', values: 'files', help: 'write the result there, not to standard output' },
        ...WIDTH,
        ...GENERAL.options,
      },
    },
    SELECTION,
    NAMES,
  ],
} as const satisfies Command;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseCheck(args: readonly string[]): CheckArguments | 'help' {
  const end = args.indexOf('--');
  const { values, positionals } = parse(CHECK, end < 0 ? args : args.slice(0, end));
  if (values.help) return 'help';
  const program = end < 0 ? [] : args.slice(end + 1);
  if (end >= 0 && program.length === 0) throw wrong('There is no program after --.', 'check');
  const path = recordingOf('check', values.input, positionals);
  if (path !== undefined && program.length > 0)
    throw wrong(`check takes a recording or a program, not both: '${path}' and '${program[0] ?? ''}'.`, 'check');
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
    format: oneOf('check', '--format', values.format ?? 'text', FORMATS),
    ...(values.output === undefined ? {} : { output: values.output }),
    ...(values.width === undefined ? {} : { width: parseWidth('check', values.width) }),
    analysis: analysisOf('check', values),
    ...terminalOf(CHECK, values),
  };
}

/** "false", "false-sharing" and "false sharing" are one; as `verdict:` of a filter takes them. */
function rulesOf(text: string): Rule[] {
  const rules = text.split(',').map((word) => {
    const name = word.trim().toLowerCase().replace(' ', '-');
    const found = RULES.find((rule) => rule === name || rule === `${name}-sharing`);
    if (found === undefined) throw wrong(`--fail-on takes false, true, mixed, or several separated by commas, not '${word}'.`, 'check');
    return found;
  });
  return [...new Set(rules)];
}
