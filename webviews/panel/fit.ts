// Which groups of columns have room: where there is too little, the least important collapse to their first column, then
// hide. What a person chose stays as it is, and the table scrolls sideways.

export type GroupState = 'open' | 'collapsed' | 'hidden';

export interface FittedGroup {
  key: string;
  /** Pixels of each column; the first stays where the group is collapsed. */
  widths: number[];
  /** The highest gives way first; 0 is never hidden. */
  priority: number;
}

/**
 * @param room pixels for all groups together
 * @param chosen states that a person set
 */
export function fitGroups(
  groups: readonly FittedGroup[],
  room: number,
  chosen: Readonly<Record<string, GroupState>>,
): Record<string, GroupState> {
  const states: Record<string, GroupState> = {};
  for (const { key } of groups) states[key] = chosen[key] ?? 'open';
  const free = groups.filter(({ key }) => chosen[key] === undefined).sort((a, b) => b.priority - a.priority);
  const fits = (): boolean => groupsWidth(groups, states) <= room;
  for (const { key } of free.filter(({ widths }) => widths.length > 1)) {
    if (fits()) return states;
    states[key] = 'collapsed';
  }
  for (const { key } of free.filter(({ priority }) => priority > 0)) {
    if (fits()) break;
    states[key] = 'hidden';
  }
  // What gave way as a whole may have made room for more than was needed: the most important ones take it.
  for (const { key } of free.reverse()) {
    const before = states[key] ?? 'open';
    for (const state of ['open', 'collapsed'] as const) {
      states[key] = state;
      if (fits()) break;
      states[key] = before;
    }
  }
  return states;
}

/** Pixels of what is shown. */
export function groupsWidth(groups: readonly FittedGroup[], states: Readonly<Record<string, GroupState>>): number {
  return groups.reduce((sum, group) => sum + shownWidths(group, states[group.key] ?? 'open').reduce((total, width) => total + width, 0), 0);
}

function shownWidths({ widths }: FittedGroup, state: GroupState): number[] {
  return state === 'open' ? widths : state === 'collapsed' ? widths.slice(0, 1) : [];
}
