// Lines as the panel's page gets them: it may not use this folder, so that what is said here of a line goes with it.
import type { PanelLine, UnfoldedLine } from '../../protocol/panel';
import type { LineSummary, ProfileLine } from '../../protocol/profile';
import { memoryName } from '../../protocol/stack-owner';
import { waitsText } from '../report/remedies';
import { withoutCallers } from './line-detail';

export function panelLines(rows: readonly LineSummary[]): PanelLine[] {
  return rows.map(({ data, ...row }) => ({ ...row, objects: [...new Set(data.map(memoryName))].join(', ') }));
}

export function unfoldedLine({ id, line }: ProfileLine): UnfoldedLine {
  const waiting = waitsText(line);
  return { ...line, id, accesses: line.accesses.map(withoutCallers), ...(waiting === '' ? {} : { waiting }) };
}
