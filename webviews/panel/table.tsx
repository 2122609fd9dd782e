// The table of cache lines: a tree grid with sortable columns, virtual rows, and keys as in the editor's lists.
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { ownPlace } from '../../extension/protocol/own-place';
import type { CacheLine } from '../../extension/protocol/report';
import { loadState, saveState, send } from './host';
import { accessesOf, lineId, lineRows, visibleRows, type Row, type Sort, type SortKey } from './model';
import { AccessCells, DetailCell, LineCells } from './rows';

const COLUMNS: { key: SortKey; name: string; number?: true; title: string }[] = [
  { key: 'address', name: 'Line', title: 'Address of the cache line' },
  { key: 'object', name: 'Data', title: 'Variables or mappings on the line' },
  { key: 'verdict', name: 'Verdict', title: 'How threads use the line' },
  { key: 'threads', name: 'Threads', number: true, title: 'Threads seen on the line' },
  { key: 'writers', name: 'R / W', number: true, title: 'Readers / writers: competing threads that only read, and those that write' },
  { key: 'share', name: 'Share', title: 'Share of all contended samples' },
  { key: 'samples', name: 'Samples', number: true, title: 'Samples attributed to the line' },
];
const HEIGHT: Record<Row['kind'], number> = { line: 28, detail: 64, access: 24 };

export function LineTable({ lines }: { lines: CacheLine[] }) {
  const [saved] = useState(loadState);
  const [sort, setSort] = useState<Sort>(saved.sort);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set(saved.expanded));
  const [active, setActive] = useState(0);
  const body = useRef<HTMLDivElement>(null);
  const focusWanted = useRef(false);

  useEffect(() => {
    const known = new Set(lines.map(lineId));
    saveState({ sort, expanded: [...expanded].filter((id) => known.has(id)) });
  }, [lines, sort, expanded]);

  const sorted = useMemo(() => lineRows(lines, sort), [lines, sort]);
  const rows = useMemo(() => visibleRows(sorted, expanded), [sorted, expanded]);
  const virtualizer = useVirtualizer(rows, body);

  const toggle = (id: string, open: boolean): void => {
    const next = new Set(expanded);
    if (open) next.add(id);
    else next.delete(id);
    setExpanded(next);
  };
  const move = (index: number): void => {
    const target = Math.max(0, Math.min(rows.length - 1, index));
    setActive(target);
    focusWanted.current = true;
    virtualizer.scrollToIndex(target);
  };
  useLayoutEffect(() => {
    const element = focusWanted.current ? body.current?.querySelector<HTMLElement>(`[data-index="${active}"]`) : undefined;
    if (!element) return;
    element.focus({ preventScroll: true });
    focusWanted.current = false;
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[active];
    if (!row) return;
    const page = Math.max(1, Math.floor((body.current?.clientHeight ?? 0) / HEIGHT.line) - 1);
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(active + 1),
      ArrowUp: () => move(active - 1),
      PageDown: () => move(active + page),
      PageUp: () => move(active - page),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      Enter: () => openRow(row),
      ' ': () => row.kind === 'line' && toggle(row.id, !row.expanded),
      ArrowRight: () => (row.kind === 'line' && !row.expanded ? toggle(row.id, true) : move(active + 1)),
      ArrowLeft: () => {
        if (row.kind === 'line') toggle(row.id, false);
        else move(rows.findLastIndex((other, index) => index < active && other.kind === 'line'));
      },
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  };

  return (
    <section class="table" role="treegrid" aria-label="Contended cache lines" aria-rowcount={rows.length + 1}>
      <div class="row head" role="row" aria-rowindex={1}>
        {COLUMNS.map(({ key, name, number, title }) => {
          const direction = sort.key !== key ? 'none' : sort.descending ? 'descending' : 'ascending';
          return (
            <div key={key} role="columnheader" aria-sort={direction} class={`column ${key}${number ? ' number' : ''}`}>
              <button
                type="button"
                title={title}
                onClick={() => setSort({ key, descending: sort.key === key ? !sort.descending : key !== 'address' && key !== 'object' })}
              >
                {name}
                <svg class="arrow" viewBox="0 0 8 8" aria-hidden="true">
                  <path d={direction === 'ascending' ? 'M0 6 4 1 8 6z' : 'M0 2 4 7 8 2z'} />
                </svg>
              </button>
            </div>
          );
        })}
      </div>
      <div class="body" ref={body} role="rowgroup" onKeyDown={onKeyDown}>
        <div class="space" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <div
                key={row.id}
                role="row"
                data-index={index}
                class={`row ${row.kind}`}
                style={{ transform: `translateY(${start}px)`, height: `${HEIGHT[row.kind]}px` }}
                tabIndex={index === active ? 0 : -1}
                aria-rowindex={index + 2}
                aria-level={row.kind === 'line' ? 1 : 2}
                aria-expanded={row.kind === 'line' ? row.expanded : undefined}
                onFocus={() => setActive(index)}
                onClick={() => openRow(row)}
              >
                {row.kind === 'line' && <LineCells row={row} onToggle={() => toggle(row.id, !row.expanded)} />}
                {row.kind === 'detail' && <DetailCell line={row.line} columns={COLUMNS.length} />}
                {row.kind === 'access' && <AccessCells row={row} />}
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** A line opens the source of its costliest access that has one; an access its own. */
function openRow(row: Row): void {
  if (row.kind === 'detail') return;
  const accesses = row.kind === 'access' ? [row.access] : accessesOf(row.line);
  const place = accesses.map(ownPlace).find((found) => found && found.line > 0);
  if (place) send({ type: 'open', ...place });
}

function useVirtualizer(rows: readonly Row[], body: { current: HTMLDivElement | null }): Virtualizer<HTMLDivElement, Element> {
  const [, redraw] = useReducer((version: number) => version + 1, 0);
  const options = {
    count: rows.length,
    getScrollElement: () => body.current,
    estimateSize: (index: number) => HEIGHT[rows[index]?.kind ?? 'line'],
    getItemKey: (index: number) => rows[index]?.id ?? index,
    overscan: 12,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, Element>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rows]);
  return virtualizer;
}
