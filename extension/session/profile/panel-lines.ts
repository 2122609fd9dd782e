// Lines as the panel's page gets them: it may not use this folder, so that what is said here of a line goes with it.
import type { PanelLine } from '../../protocol/panel';
import type { CacheLine } from '../../protocol/report';
import { waitsText } from '../report/remedies';

export function panelLines(lines: readonly CacheLine[]): PanelLine[] {
  return lines.map((line) => {
    const waiting = waitsText(line);
    return waiting === '' ? line : { ...line, waiting };
  });
}
