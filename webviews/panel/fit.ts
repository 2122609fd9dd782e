// Which groups of columns have room: the most important one is open, then come as many others as fit with their first
// column, then what is left opens them. What a person chose stays as it is, and the table scrolls sideways.

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
  for (const { key } of groups) states[key] = chosen[key] ?? 'hidden';
  const free = groups.filter(({ key }) => chosen[key] === undefined).sort((a, b) => a.priority - b.priority);
  /** Whether the group has this state now: only where it fits. */
  const grow = (key: string, state: GroupState): boolean => {
    const before = states[key] ?? 'hidden';
    states[key] = state;
    if (groupsWidth(groups, states) <= room) return true;
    states[key] = before;
    return false;
  };
  for (const { key, priority, widths } of free) {
    if (priority === 0) {
      if (!grow(key, 'open')) states[key] = 'collapsed';
    } else grow(key, widths.length > 1 ? 'collapsed' : 'open');
  }
  for (const { key } of free.filter((group) => states[group.key] === 'collapsed')) if (!grow(key, 'open')) break;
  return states;
}

/** Pixels of what is shown. */
export function groupsWidth(groups: readonly FittedGroup[], states: Readonly<Record<string, GroupState>>): number {
  return groups.reduce((sum, group) => sum + shownWidths(group, states[group.key] ?? 'open').reduce((total, width) => total + width, 0), 0);
}

function shownWidths({ widths }: FittedGroup, state: GroupState): number[] {
  return state === 'open' ? widths : state === 'collapsed' ? widths.slice(0, 1) : [];
}
