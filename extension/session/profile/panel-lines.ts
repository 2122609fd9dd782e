// Lines as the panel's page gets them: it may not use this folder, so that what is said here of a line goes with it.
import type { PanelLine } from '../../protocol/panel';
import type { ProfileLine } from '../../protocol/profile';
import { waitsText } from '../report/remedies';

export function panelLines(rows: readonly ProfileLine[]): PanelLine[] {
  return rows.map(({ id, line }) => {
    const waiting = waitsText(line);
    return { ...line, id, ...(waiting === '' ? {} : { waiting }) };
  });
}
