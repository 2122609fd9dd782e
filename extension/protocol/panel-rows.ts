// Rows of the panel's table, and what a person may do with one, by its menu or by a button of the page.

export const ROW_ACTIONS = ['openSource', 'showCard', 'copyMarkdown', 'copyCsv', 'copyJson', 'only', 'without', 'fix'] as const;
export type RowAction = (typeof ROW_ACTIONS)[number];

/** The commands of the menu (`webview/context` in package.json). */
export const ROW_COMMANDS: Record<Exclude<RowAction, 'fix'>, string> = {
  openSource: 'cacheline.rowSource',
  showCard: 'cacheline.rowCard',
  copyMarkdown: 'cacheline.copyRowAsMarkdown',
  copyCsv: 'cacheline.copyRowAsCsv',
  copyJson: 'cacheline.copyRowAsJson',
  only: 'cacheline.onlyRow',
  without: 'cacheline.withoutRow',
};

/** Which row it is. It holds no name of a recording: the host looks up what it stands for. */
export interface RowId {
  /** Of the report that the page shows; no other page has the same. */
  version: number;
  /** `ProfileLine.id` */
  line: string;
  /** Index among the accesses of the line; absent: the line itself. */
  access?: number;
}

/** What the editor's menu of a row hands to its commands, as text for the attribute `data-vscode-context`. */
export function rowContext({ version, line, access }: RowId): string {
  return JSON.stringify({
    webviewSection: 'cachelineRow',
    preventDefaultContextMenuItems: true,
    cachelineVersion: version,
    cachelineLine: line,
    ...(access === undefined ? {} : { cachelineAccess: access }),
  });
}

/** @param context whatever a command was called with; undefined: it is not of a row */
export function rowOfContext(context: unknown): RowId | undefined {
  if (typeof context !== 'object' || context === null) return undefined;
  const { cachelineVersion, cachelineLine, cachelineAccess } = context as Record<string, unknown>;
  return rowId(cachelineVersion, cachelineLine, cachelineAccess);
}

export function rowId(version: unknown, line: unknown, access: unknown): RowId | undefined {
  if (!isCount(version) || typeof line !== 'string') return undefined;
  if (access === undefined) return { version, line };
  return isCount(access) ? { version, line, access } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
