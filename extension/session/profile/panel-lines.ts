// Lines as the panel's page gets them: it may not use this folder, so that what is said here of a line goes with it.
import type { PanelLine, UnfoldedLine } from '../../protocol/panel';
import type { LineSummary, ProfileLine } from '../../protocol/profile';
import { addressOf, dataText } from '../report/data-text';
import { waitsText } from '../report/remedies';
import { lineData } from '../report/sharing-facts';
import { withoutCallers } from './line-detail';

export function panelLines(rows: readonly LineSummary[]): PanelLine[] {
  return rows.map(({ data, ...row }) => ({ ...row, objects: lineData({ ...row, accesses: data }) }));
}

export function unfoldedLine({ id, line }: ProfileLine): UnfoldedLine {
  const waiting = waitsText(line);
  const names = line.accesses.map((access) => dataText(access.data, () => addressOf(line, access)));
  return { ...line, id, accesses: line.accesses.map(withoutCallers), names, ...(waiting === '' ? {} : { waiting }) };
}
