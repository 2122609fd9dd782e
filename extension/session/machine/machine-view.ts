// What the page of "Check This Machine" shows, and what it may ask for.
import type { DoctorReport } from '../../protocol/engine';
import type { FromMachine, MachineView, SelfTestState } from '../../protocol/machine';
import { COLLECTOR_MEANING } from './doctor-text';
import { machineFacts } from './machine-facts';
import { commandIn } from '../text/next-step';
import { printable } from '../text/terminal-text';

export function machineView({ collectors, machine }: DoctorReport, selfTest: SelfTestState): MachineView {
  return {
    collectors: collectors.map(({ name, usable, blockers, note = '' }) => ({
      name,
      meaning: COLLECTOR_MEANING[name],
      usable,
      blockers: blockers.map(({ what, value, fix }) => ({
        what: printable(what),
        value: printable(value),
        fix: printable(fix),
        command: printable(commandIn(fix) ?? ''),
      })),
      note: printable(note),
    })),
    facts: machineFacts(machine),
    selfTest,
  };
}

/** The page is untrusted input: undefined where it sent none of its messages. */
export function parseMachineMessage(message: unknown): FromMachine | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, collector, blocker, message: text } = message as Record<string, unknown>;
  switch (type) {
    case 'ready':
    case 'check':
    case 'selfTest':
    case 'text':
      return { type };
    case 'copy':
      return isCollector(collector) && typeof blocker === 'number' ? { type, collector, blocker } : undefined;
    case 'error':
      return typeof text === 'string' ? { type, message: text } : undefined;
    default:
      return undefined;
  }
}

function isCollector(name: unknown): name is keyof typeof COLLECTOR_MEANING {
  return typeof name === 'string' && Object.hasOwn(COLLECTOR_MEANING, name);
}
