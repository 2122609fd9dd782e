// A table of what changed: shares as bars with their numbers, and a button that opens the source line.
import { useState } from 'preact/hooks';
import type { CompareRow, CompareView } from '../../extension/protocol/compare';
import { t } from '../../extension/protocol/l10n';
import { TitleRow, type TableTitle } from '../page/title-row';

const TITLES: TableTitle[] = [
  { name: t('Status'), meaning: t('What became of the waiting; “unsure”: chance explains the difference'), kind: 'status' },
  { name: t('Name'), meaning: t('The data or the function that waits') },
  { name: t('Waits most at'), meaning: t('The source line that waits most'), kind: 'place' },
  { name: t('Share before'), meaning: t('Its contended samples, as a part of all samples of the recording before'), kind: 'share' },
  { name: t('Share after'), meaning: t('Its contended samples, as a part of all samples of the recording after'), kind: 'share' },
  { name: t('Sure'), meaning: t('How sure it is that chance does not explain the difference'), kind: 'number sure' },
];

/** Rows that are shown at first. */
const FIRST_ROWS = 20;

interface ChangeTableProps {
  title: string;
  rows: CompareRow[];
  /** Titles of their numbers. */
  columns: CompareView['columns'];
  onOpen: (row: number) => void;
}

export function ChangeTable({ title, rows, columns, onOpen }: ChangeTableProps) {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, FIRST_ROWS);
  return (
    <section>
      <h2>{title}</h2>
      <div class="scroll">
        <table aria-label={title} onKeyDown={moveBetweenPlaces}>
          <thead>
            <TitleRow
              titles={[
                ...TITLES,
                ...columns.map(({ name, meaning }) => ({ name, meaning: t('{0}: before → after', meaning), kind: 'number' })),
              ]}
            />
          </thead>
          <tbody>
            {shown.map((row) => (
              <ChangeRow key={row.id} row={row} onOpen={onOpen} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length && (
        <button type="button" class="push secondary more" onClick={() => setAll(true)}>
          {t('Show All {0}', rows.length)}
        </button>
      )}
    </section>
  );
}

export function ChangeRow({ row, onOpen }: { row: CompareRow; onOpen: (row: number) => void }) {
  const { id, status, statusText, name, remark, share, shareText, sure, numbers, place, placeTitle } = row;
  return (
    <tr class="change" onDblClick={() => place !== '' && onOpen(id)}>
      <td>
        <span class={`change-${status}`}>{statusText}</span>
      </td>
      <th scope="row">
        {name}
        {remark !== '' && <span class="quiet"> ({remark})</span>}
      </th>
      <td class="place">
        {place !== '' && (
          <button type="button" class="link place" title={placeTitle} onClick={() => onOpen(id)}>
            {place}
          </button>
        )}
      </td>
      <Share share={share.before} text={shareText.before} />
      <Share share={share.after} text={shareText.after} />
      <td class="number">{sure}</td>
      {numbers.map(({ before, after }, index) => (
        <td key={index} class="number">
          <span class="side">{before} →</span> <span class="side">{after}</span>
        </td>
      ))}
    </tr>
  );
}

/** The bar is decoration: the number beside it says the same. */
function Share({ share, text }: { share: number; text: string }) {
  return (
    <td class="share">
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
      {text}
    </td>
  );
}

/** Up and down go from one source line to the next; Enter opens it, as of any button. */
function moveBetweenPlaces(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const places = [...document.querySelectorAll<HTMLElement>('button.place')];
  const next = places[places.findIndex((place) => place === document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
