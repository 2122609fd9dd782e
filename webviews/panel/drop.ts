// Recordings dropped on the page. The editor's Explorer gives its drags to a page while Shift is held; what they are is
// for the host to read.
import { t } from '../../extension/protocol/l10n';
import { send } from './host';

/** The types in which files arrive: the Explorer's list, and what other programs say. */
const TYPES = ['resourceurls', 'text/uri-list'] as const;

export function acceptDrops(target: HTMLElement): void {
  target.dataset['drop'] = t('Open this recording');
  const mark = (on: boolean): void => void target.classList.toggle('dropping', on);
  const isFiles = ({ dataTransfer }: DragEvent): boolean =>
    dataTransfer?.types.some((type) => type === 'Files' || TYPES.some((known) => known === type.toLowerCase())) ?? false;
  target.addEventListener('dragover', (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
    mark(true);
  });
  target.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) mark(false);
  });
  target.addEventListener('drop', (event) => {
    mark(false);
    if (!isFiles(event)) return;
    event.preventDefault();
    const { dataTransfer } = event;
    send({ type: 'drop', data: Object.fromEntries(TYPES.map((type) => [type, dataTransfer?.getData(type) ?? ''])) });
  });
}
