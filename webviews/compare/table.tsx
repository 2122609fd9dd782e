// A table of what changed: the waiting as bars with its numbers, and a button that opens the source line.
import { useState } from 'preact/hooks';
import type { CompareRow, CompareView } from '../../extension/protocol/compare';
import { t } from '../../extension/protocol/l10n';
import { TitleRow, type TableTitle } from '../page/title-row';

const titles = (waiting: string): TableTitle[] => [
  {
    name: t('Status'),
    meaning: t('What became of the waiting; “unsure”: chance, or what was not seen, can explain the difference'),
    kind: 'status',
  },
  { name: t('Name'), meaning: t('The data or the function that waits') },
  { name: t('Waits most at'), meaning: t('The source line that waits most'), kind: 'place' },
  { name: t('Waiting before'), meaning: t('{0}: before', waiting), kind: 'share' },
  { name: t('Waiting after'), meaning: t('{0}: after', waiting), kind: 'share' },
  { name: t('Sure'), meaning: t('How sure it is that chance does not explain the difference'), kind: 'number sure' },
];

/** Rows that are shown at first. */
const FIRST_ROWS = 20;

interface ChangeTableProps {
  title: string;
  rows: CompareRow[];
  /** What their waiting is. */
  waiting: string;
  /** Titles of their numbers. */
  columns: CompareView['columns'];
  onOpen: (row: number) => void;
}

export function ChangeTable({ title, rows, waiting, columns, onOpen }: ChangeTableProps) {
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
                ...titles(waiting),
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
  const { id, status, statusText, name, remark, bar, waiting, sure, numbers, place, placeTitle } = row;
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
      <Waiting bar={bar.before} text={waiting.before} />
      <Waiting bar={bar.after} text={waiting.after} />
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
function Waiting({ bar, text }: { bar: number; text: string }) {
  return (
    <td class="share">
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${bar * 100}%` }} />
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
