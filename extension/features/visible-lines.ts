// Texts after lines cost frames, so they are drawn where a person can see them.
import type * as vscode from 'vscode';

/** Lines above and below what is visible, so that scrolling shows no gaps. */
const MARGIN = 30;

/** Whether a line (0-based) is on screen or close to it. */
export function nearScreen({ visibleRanges }: vscode.TextEditor): (line: number) => boolean {
  return (line) => visibleRanges.some(({ start, end }) => line >= start.line - MARGIN && line <= end.line + MARGIN);
}
