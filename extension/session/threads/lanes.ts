// A thread's time as one line of characters, a cell for each part of the window.
import { t } from '../../protocol/l10n';
import type { ThreadLane } from '../../protocol/threads';
import type { Style } from '../text/terminal-text';

/**
 * What a cell shows: that the thread ran most of the time or a part of it, else what it did most of the time. `contended`: at least half of
 * its running was. `absent`: it was not there.
 */
export type Cell = 'running' | 'partly' | 'contended' | 'partlyContended' | 'runnable' | 'blocked' | 'unknown' | 'absent';

/** Of the time that the thread was there: what runs less in a cell is not drawn as running. */
const LEAST_RUNNING = 0.1;

export const CELLS: Record<Cell, { character: string; style?: keyof Style; words: string }> = {
  running: { character: '#', style: 'green', words: t('running') },
  partly: { character: '+', style: 'green', words: t('running a part of the time') },
  contended: { character: 'X', style: 'red', words: t('running, contended') },
  partlyContended: { character: 'x', style: 'red', words: t('a part of the time, contended') },
  runnable: { character: '-', style: 'yellow', words: t('runnable, without a CPU') },
  blocked: { character: '.', style: 'dim', words: t('blocked') },
  unknown: { character: '?', words: t('unknown') },
  absent: { character: ' ', words: t('not there') },
};

const STATES = ['running', 'runnable', 'blocked', 'unknown'] as const;

/** @param bins ns @returns ns in each of `width` equal parts */
export function resampled(bins: readonly number[], width: number): number[] {
  const cells = new Array<number>(width).fill(0);
  bins.forEach((amount, at) => {
    // In units of one bin, cells end at multiples of bins / width.
    const scale = width / bins.length;
    const [from, to] = [at * scale, (at + 1) * scale];
    for (let cell = Math.floor(from); cell < Math.min(width, Math.ceil(to)); cell++)
      cells[cell] = (cells[cell] ?? 0) + (amount * (Math.min(to, cell + 1) - Math.max(from, cell))) / scale;
  });
  return cells;
}

/**
 * @param width cells; never more than there are bins
 * @param cellNs the length of a cell
 */
export function cellsOf(lane: ThreadLane, width: number, cellNs: number): Cell[] {
  const amounts = Object.fromEntries([...STATES, 'contended' as const].map((name) => [name, resampled(lane[name] ?? [], width)])) as Record<
    (typeof STATES)[number] | 'contended',
    number[]
  >;
  return Array.from({ length: width }, (_, cell) => {
    const of = (name: keyof typeof amounts): number => amounts[name][cell] ?? 0;
    const present = STATES.reduce((sum, name) => sum + of(name), 0);
    // Of samples nothing but running is known: less than half of a cell may still be the thread's whole work there.
    if (present <= 0 || (lane.blocked !== null && present < cellNs / 100)) return 'absent';
    const most = STATES.reduce((best, name) => (of(name) > of(best) ? name : best), STATES[0]);
    if (of('running') < LEAST_RUNNING * present) return most;
    const isContended = of('contended') >= of('running') / 2;
    if (most === 'running') return isContended ? 'contended' : 'running';
    return isContended ? 'partlyContended' : 'partly';
  });
}

/** Runs of equal cells are marked together. */
export function laneText(cells: readonly Cell[], style: Style): string {
  let text = '';
  for (let at = 0; at < cells.length;) {
    const cell = cells[at] ?? 'absent';
    let end = at + 1;
    while (cells[end] === cell) end++;
    const { character, style: name } = CELLS[cell];
    const run = character.repeat(end - at);
    text += name === undefined ? run : style[name](run);
    at = end;
  }
  return text;
}

/** "# running; X running, contended; ...": of the cells that are there. */
export function legend(used: ReadonlySet<Cell>): string {
  return (Object.keys(CELLS) as Cell[])
    .filter((cell) => used.has(cell) && cell !== 'absent')
    .map((cell) => `${CELLS[cell].character} ${CELLS[cell].words}`)
    .join('; ');
}
