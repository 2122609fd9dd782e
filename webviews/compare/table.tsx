// A table of what changed: shares as bars with their numbers, and a button that opens the source line.
import { useState } from 'preact/hooks';
import type { CompareRow, CompareView } from '../../extension/protocol/compare';
import { t } from '../../extension/protocol/l10n';

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
            <tr>
              <th scope="col" class="status">
                {t('Status')}
              </th>
              <th scope="col">{t('Name')}</th>
              <th scope="col" class="place">
                {t('Waits most at')}
              </th>
              <th scope="col" class="share">
                {t('Share before')}
              </th>
              <th scope="col" class="share">
                {t('Share after')}
              </th>
              <th scope="col" class="number sure">
                {t('Sure')}
              </th>
              {columns.map((column) => (
                <th key={column} scope="col" class="number" aria-label={t('{0}, before and after', column)}>
                  {column}
                </th>
              ))}
            </tr>
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
  const { id, status, name, remark, share, shareText, sure, numbers, place, placeTitle } = row;
  return (
    <tr class="change" onDblClick={() => place !== '' && onOpen(id)}>
      <td>
        <span class={`change-${status}`}>{status}</span>
      </td>
      <th scope="row">
        {name}
        {remark !== '' && <span class="quiet"> ({remark})</span>}
      </th>
      <td>
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
          {before} → {after}
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
