// Messages between the extension host and the page of "Check This Machine". Everything in them is data and is rendered as text.
import type { CollectorName, SelfTest } from './engine';

export interface MachineBlocker {
  what: string;
  /** What was found; may be empty. */
  value: string;
  fix: string;
  /** Of the fix, what can be run; empty where nothing can. */
  command: string;
}

export interface MachineCollector {
  name: CollectorName;
  /** What it measures. */
  meaning: string;
  usable: boolean;
  blockers: MachineBlocker[];
  /** What else is worth knowing; may be empty. */
  note: string;
}

export type SelfTestState =
  | { state: 'none' }
  | { state: 'running' }
  | { state: 'done'; results: SelfTest[] }
  | { state: 'failed'; message: string; nextStep: string };

export interface MachineView {
  collectors: MachineCollector[];
  facts: { name: string; value: string }[];
  selfTest: SelfTestState;
}

/** Host to page. */
export type ToMachine = { type: 'machine'; view: MachineView };

/** Page to host. */
export type FromMachine =
  | { type: 'ready' }
  /** Looks again: what was lifted meanwhile. */
  | { type: 'check' }
  | { type: 'selfTest' }
  /** Copies the command of a blocker; what is copied is the host's, not the page's. */
  | { type: 'copy'; collector: CollectorName; blocker: number }
  | { type: 'text' }
  | { type: 'error'; message: string };
