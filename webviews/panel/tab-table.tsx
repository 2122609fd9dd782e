// A table of a tab: sortable columns, rows that may unfold, and keys as in the editor's lists. All text is set as text.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { heatStep } from '../../extension/protocol/heat-scale';
import { t } from '../../extension/protocol/l10n';
import type { TabColumn, TabRow, TabRows, TabTable, TabValue } from '../../extension/protocol/panel-tabs';
import type { Verdict } from '../../extension/protocol/report';
import { VERDICT_MEANING } from '../../extension/protocol/words';
import { send } from './host';
import type { Sort } from './model';
import { moreRowsLabel, ROWS_AT_ONCE, shownRows, sortedRows, type ShownRow } from './tab-views';

/** Rows of a page. */
const PAGE = 15;

interface SortProps {
  sort: Sort;
  onSort: (sort: Sort) => void;
}

export function TabTableView({ table, ...sorting }: SortProps & { table: TabTable }) {
  return (
    <div class="tab-scroll">
      <p class="tab-note quiet totals">{table.totals}</p>
      <Rows table={table} {...sorting} />
      <Notes notes={table.notes} warnings={table.warnings} />
    </div>
  );
}

export function Rows({ table, sort, onSort }: SortProps & { table: TabRows }) {
  const { columns, bars, rows: all, empty, more } = table;
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  /** -1: no row was chosen yet. */
  const [active, setActive] = useState(-1);
  const body = useRef<HTMLTableSectionElement>(null);
  const focusWanted = useRef(false);
  const [drawn, setDrawn] = useState(ROWS_AT_ONCE);
  const sorted = useMemo(() => sortedRows(all, columns, sort), [all, columns, sort]);
  const rows = useMemo(() => shownRows(sorted.slice(0, drawn), unfolded), [sorted, drawn, unfolded]);
  const canUnfold = all.some(({ rows: inside }) => inside.length > 0);
  const stop = Math.max(0, Math.min(active, rows.length - 1));

  const move = (index: number): void => {
    setActive(Math.max(0, Math.min(rows.length - 1, index)));
    focusWanted.current = true;
  };
  useLayoutEffect(() => {
    const element = focusWanted.current ? body.current?.querySelector<HTMLElement>(`[data-index="${stop}"]`) : undefined;
    element?.focus();
    focusWanted.current = false;
  });
  const toggle = ({ id, row, level }: ShownRow, open: boolean): void => {
    if (row.rows.length === 0 || level > 1) return;
    const next = new Set(unfolded);
    if (open) next.add(id);
    else next.delete(id);
    setUnfolded(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const shown = rows[stop];
    if (!shown) return;
    const parent = rows.findLastIndex(({ level }, index) => index < stop && level < shown.level);
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(stop + 1),
      ArrowUp: () => move(stop - 1),
      PageDown: () => move(stop + PAGE),
      PageUp: () => move(stop - PAGE),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      Enter: () => open(shown.row),
      ' ': () => toggle(shown, !shown.unfolded),
      ArrowRight: () => (shown.unfolded ? move(stop + 1) : toggle(shown, true)),
      ArrowLeft: () => (parent < 0 ? toggle(shown, false) : move(parent)),
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  };

  return (
    <>
      {all.length === 0 ? (
        <p class="tab-note">{empty}</p>
      ) : (
        <table role={canUnfold ? 'treegrid' : 'grid'} aria-rowcount={rows.length + 1} aria-label={columns[0]?.title}>
          <thead>
            <tr>
              {columns.map((column) => (
                <Title key={column.title} column={column} sort={sort} onSort={onSort} />
              ))}
            </tr>
          </thead>
          <tbody ref={body} onKeyDown={onKeyDown}>
            {rows.map((shown, index) => (
              <tr
                key={shown.id}
                data-index={index}
                class={`level-${shown.level}${shown.row.place ? ' opens' : ''}`}
                aria-level={canUnfold ? shown.level : undefined}
                aria-expanded={shown.row.rows.length > 0 ? shown.unfolded : undefined}
                aria-selected={index === active}
                title={shown.row.place ? t('Double-click or Enter opens {0}:{1}', shown.row.place.file, shown.row.place.line) : undefined}
                tabIndex={index === stop ? 0 : -1}
                onFocus={() => setActive(index)}
                onDblClick={() => open(shown.row)}
              >
                {columns.map((column, at) => (
                  <Cell
                    key={column.title}
                    column={column}
                    text={shown.row.cells[at] ?? ''}
                    value={shown.row.values[at] ?? null}
                    bar={at === bars ? shown.row.share : undefined}
                    twisty={at === 0 && shown.row.rows.length > 0 ? shown : undefined}
                    onToggle={toggle}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {all.length > drawn && (
        <p class="tab-note">
          <button type="button" class="link" onClick={() => setDrawn(drawn + ROWS_AT_ONCE)}>
            {moreRowsLabel(all.length - drawn)}
          </button>
        </p>
      )}
      {all.length <= drawn && more !== '' && <p class="tab-note">{more}</p>}
    </>
  );
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a tab cannot say. */
export function Notes({ notes, warnings }: { notes: string[]; warnings: string[] }) {
  return (
    <>
      {warnings.length > 0 && (
        <ul class="warnings" aria-label={t('Warnings of this view')}>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {notes.map((note) => (
        <p key={note} class="tab-note quiet">
          {note}
        </p>
      ))}
    </>
  );
}

function open({ place }: TabRow): void {
  if (place) send({ type: 'open', file: place.file, line: place.line });
}

function Title({ column, sort, onSort }: SortProps & { column: TabColumn }) {
  const { title, meaning, number } = column;
  const direction = sort.key !== title ? 'none' : sort.descending ? 'descending' : 'ascending';
  return (
    <th scope="col" aria-sort={direction} class={number ? 'number' : ''}>
      <button
        type="button"
        title={meaning}
        onClick={() => onSort({ key: title, descending: sort.key === title ? !sort.descending : number })}
      >
        {capital(title)}
        <svg class="arrow" viewBox="0 0 8 8" aria-hidden="true">
          <path d={direction === 'ascending' ? 'M0 6 4 1 8 6z' : 'M0 2 4 7 8 2z'} />
        </svg>
      </button>
    </th>
  );
}

/** @param share 0 to 1 */
export function ShareCell({ share, text }: { share: number; text: string }) {
  return (
    <td class="share-cell">
      <div class="share">
        <span class="bar" aria-hidden="true">
          <span class={`fill heat-${heatStep(share)}`} style={{ width: `${Math.min(1, share) * 100}%` }} />
        </span>
        <span class="value">{text}</span>
      </div>
    </td>
  );
}

interface CellProps {
  column: TabColumn;
  text: string;
  value: TabValue;
  /** 0 to 1; undefined: it has none. */
  bar: number | undefined;
  /** Of a row that unfolds. */
  twisty: ShownRow | undefined;
  onToggle: (row: ShownRow, open: boolean) => void;
}

function VerdictChip({ verdict, text }: { verdict: TabValue; text: string }) {
  return (
    <span class={`chip ${String(verdict).replace(' ', '-')}`} title={VERDICT_MEANING[verdict as Verdict]}>
      {text}
    </span>
  );
}

function Cell({ column: { number, verdict }, text, value, bar, twisty, onToggle }: CellProps) {
  if (bar !== undefined) return <ShareCell share={bar} text={text} />;
  if (verdict) return <td>{text !== '' && <VerdictChip verdict={value} text={text} />}</td>;
  if (number) return <td class={`number${text === '?' ? ' quiet' : ''}`}>{text}</td>;
  return (
    <td class="name mono" title={text}>
      {twisty && (
        <button
          type="button"
          class="twisty"
          tabIndex={-1}
          aria-label={twisty.unfolded ? t('Hide lines') : t('Show lines')}
          onClick={() => onToggle(twisty, !twisty.unfolded)}
          onDblClick={(event) => event.stopPropagation()}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d={twisty.unfolded ? 'M3 5.5 8 10.5 13 5.5' : 'M5.5 3 10.5 8 5.5 13'} />
          </svg>
        </button>
      )}
      {text}
    </td>
  );
}
