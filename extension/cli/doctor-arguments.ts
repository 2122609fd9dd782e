// The options of `cacheline doctor`.
import { GENERAL, oneOf, parse, terminalOf, wrong, type Command, type TerminalChoice } from './options';

export interface DoctorArguments extends TerminalChoice {
  command: 'doctor';
  format: 'text' | 'json';
  selfTest: boolean;
  calibrate: boolean;
}

const FORMATS = ['text', 'json'] as const;

export const DOCTOR = {
  name: 'doctor',
  brief: 'show what this machine can record',
  forms: ['[options]'],
  about: ['Prints which collectors this machine can use, and for the others what blocks them and the command or setting that changes it.'],
  operands: [],
  groups: [
    {
      options: {
        'self-test': {
          type: 'boolean',
          help: 'record a built-in contended program with each usable collector and show what it found; status 1 where one missed it',
        },
        calibrate: {
          type: 'boolean',
          help: 'measure for half a second what contention costs here, and save it for recordings made on this CPU model',
        },
        format: { type: 'string', value: 'FORMAT', values: FORMATS, help: 'text (default) or json' },
        ...GENERAL.options,
      },
    },
  ],
} as const satisfies Command;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseDoctor(args: readonly string[]): DoctorArguments | 'help' {
  const { values, positionals } = parse(DOCTOR, args);
  if (values.help) return 'help';
  const [extra] = positionals;
  if (extra !== undefined) throw wrong(`doctor takes no arguments, not '${extra}'.`, 'doctor');
  return {
    command: 'doctor',
    format: oneOf('doctor', '--format', values.format ?? 'text', FORMATS),
    selfTest: values['self-test'] ?? false,
    calibrate: values.calibrate ?? false,
    ...terminalOf(DOCTOR, values),
  };
}
