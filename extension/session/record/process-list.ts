// The processes as a list to choose from. What they call themselves is foreign text.
import { t } from '../../protocol/l10n';
import { pickerText } from '../../protocol/printable';
import { plural, shortenEnd } from '../text/terminal-text';
import type { ProcessInfo } from './processes';

export type ProcessItem =
  { kind: 'group'; label: string } | { kind: 'process'; pid: number; label: string; description: string; detail: string };

const MAX_NAME = 60;
const MAX_COMMAND = 300;

/**
 * @param processes in the order of the list, those of user `uid` first
 */
export function processItems(processes: readonly ProcessInfo[], uid: number): ProcessItem[] {
  const own = processes.filter((process) => process.uid === uid);
  const others = processes.filter((process) => process.uid !== uid);
  const needs = uid === 0 ? '' : t(': recording them needs root or CAP_PERFMON');
  return [...group(t('yours'), own), ...group(t('of other users{0}', needs), others)];
}

function group(label: string, processes: readonly ProcessInfo[]): ProcessItem[] {
  return processes.length === 0 ? [] : [{ kind: 'group', label }, ...processes.map(item)];
}

function item({ pid, name, user, threads, load, commandLine }: ProcessInfo): ProcessItem {
  const busy = Math.round(load * 100);
  return {
    kind: 'process',
    pid,
    label: pickerText(shortenEnd(name, MAX_NAME)),
    description: [`${pid}`, pickerText(user), plural(threads, 'thread'), ...(busy > 0 ? [`${busy}% CPU`] : [])].join(' · '),
    detail: pickerText(shortenEnd(commandLine.join(' '), MAX_COMMAND)),
  };
}
