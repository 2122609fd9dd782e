// The table of cache lines: a tree grid with sortable columns, virtual rows, and keys as in the editor's lists.
import { elementScroll, measureElement, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { MEASURE_WORDS, type Measure } from '../../extension/protocol/measure';
import { ownPlace } from '../../extension/protocol/own-place';
import type { PanelHeat, PanelLine, PanelSummary } from '../../extension/protocol/panel';
import { rowContext } from '../../extension/protocol/panel-rows';
import { DetailPane, useDetail } from './detail';
import type { GroupState } from './fit';
import { loadState, onMessage, saveState, send } from './host';
import { measureGroups, NARROW_BELOW, tableLayout } from './layout';
import { accessesOf, DEFAULT_SORT, lineRow, lineRows, visibleRows, type LineRow, type Row, type Sort } from './model';
import { Ranges } from './ranges';
import { AccessCells, DetailCell, LineCells } from './rows';
import { TableHead } from './table-head';
import { Toolbar } from './toolbar';

/** Pixels; of details the least: they wrap, and are measured. */
const HEIGHT: Record<Row['kind'], number> = { line: 28, detail: 64, access: 24, missing: 28 };
/** Of the titles, as the style sheet has it: one row, or two with groups. */
const HEAD_HEIGHT = { plain: 30, grouped: 50 };

interface TableProps {
  /** All, or some by which columns are measured: then the others are asked for. */
  lines: PanelLine[];
  total: number;
  /** Of the report. */
  version: number;
  summary: PanelSummary;
  heat: PanelHeat;
}

export function LineTable({ lines, total, version, summary: { evidence, c2c }, heat }: TableProps) {
  const [saved] = useState(loadState);
  const [chosenSort, setSort] = useState<Sort>(saved.sort);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set(saved.expanded));
  const [groups, setGroups] = useState<Record<string, GroupState>>(saved.groups);
  const [active, setActive] = useState(0);
  const [selected, setSelected] = useState('');
  /** `PanelLine.id`, in full below the table; empty: none. */
  const [detailed, setDetailed] = useState('');
  const detail = useDetail(version, detailed);
  const table = useRef<HTMLDivElement>(null);
  const focusWanted = useRef(false);
  const width = useWidth(table);

  useEffect(() => {
    const known = new Set(lines.map(({ id }) => id));
    const isKnown = (id: string): boolean => lines.length < total || known.has(id);
    saveState({ sort: chosenSort, expanded: [...expanded].filter(isKnown), groups });
  }, [lines, total, chosenSort, expanded, groups]);

  const measured = useMemo(() => measureGroups(evidence, lines), [evidence, lines]);
  const { measure } = heat;
  const layout = useMemo(() => tableLayout(measured, width, groups, MEASURE_WORDS[measure].whole), [measured, width, groups, measure]);
  // A column that this report does not have, or that is hidden now, cannot sort it.
  const sortColumn = layout.columns.find(({ key }) => key === chosenSort.key);
  const sort = sortColumn ? chosenSort : DEFAULT_SORT;
  const here = useMemo(
    () => (lines.length < total ? undefined : lineRows(lines, sort, measure, sortColumn)),
    [lines, total, sort, measure, sortColumn],
  );
  const [sent, wantPlaces] = useRanges(here ? 0 : total, version, sort, measure);
  const sorted = here ?? sent;
  const rows = useMemo(() => visibleRows(sorted, expanded, measure), [sorted, expanded, measure]);
  const headRows = layout.groups.length > 0 ? 2 : 1;
  const virtualizer = useVirtualizer(rows, table, layout.groups.length > 0 ? HEAD_HEIGHT.grouped : HEAD_HEIGHT.plain);
  const wide = layout.grid ? { minWidth: `${layout.grid.width}px` } : {};
  const grid = layout.grid ? { gridTemplateColumns: layout.grid.template, ...wide } : {};

  const toggle = (id: string, open: boolean): void => {
    const next = new Set(expanded);
    if (open) next.add(id);
    else next.delete(id);
    setExpanded(next);
  };
  const setGroup = (key: string, state: GroupState): void => setGroups({ ...groups, [key]: state });
  const move = (index: number): void => {
    const target = Math.max(0, Math.min(rows.length - 1, index));
    setActive(target);
    focusWanted.current = true;
    virtualizer.scrollToIndex(target);
  };
  useLayoutEffect(() => {
    const element = focusWanted.current ? table.current?.querySelector<HTMLElement>(`[data-index="${active}"]`) : undefined;
    if (!element) return;
    element.focus({ preventScroll: true });
    focusWanted.current = false;
  });

  const isDetailed = detail !== undefined;
  useEffect(() => {
    if (isDetailed) virtualizer.scrollToIndex(active); // the table is less high now
  }, [isDetailed]);
  const closeDetail = (): void => {
    setDetailed('');
    if (rows.length > 0) move(active);
  };

  const shownPlaces = virtualizer.getVirtualItems().flatMap(({ index }) => {
    const row = rows[index];
    return row?.kind === 'missing' ? [row.place] : [];
  });
  useEffect(() => wantPlaces(shownPlaces));

  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[active];
    if (!row) return;
    const page = Math.max(1, Math.floor((table.current?.clientHeight ?? 0) / HEIGHT.line) - 1 - headRows);
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(active + 1),
      ArrowUp: () => move(active - 1),
      PageDown: () => move(active + page),
      PageUp: () => move(active - page),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      Enter: () => openRow(row, measure),
      ...(isDetailed ? { Escape: closeDetail } : {}),
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
    <>
      {measured && (
        <Toolbar
          heat={heat}
          evidence={evidence}
          c2c={c2c}
          choices={layout.choices}
          changed={Object.keys(groups).length > 0}
          onGroup={setGroup}
          onReset={() => setGroups({})}
        />
      )}
      <div
        class={`table${measured ? ' sources' : ''}${width < NARROW_BELOW ? ' narrow' : ''}`}
        role="treegrid"
        aria-label="Contended cache lines"
        aria-rowcount={rows.length + headRows}
        ref={table}
        style={{ '--table-width': `${width}px` }}
      >
        <TableHead layout={layout} sort={sort} grid={grid} wide={wide} onSort={setSort} onGroup={setGroup} />
        <div class="body" role="rowgroup" onKeyDown={onKeyDown} style={{ height: `${virtualizer.getTotalSize()}px`, ...wide }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <div
                key={row.id}
                role="row"
                data-index={index}
                class={`row ${row.kind}`}
                ref={row.kind === 'detail' ? virtualizer.measureElement : null}
                style={{
                  ...grid,
                  transform: `translateY(${start}px)`,
                  [row.kind === 'detail' ? 'minHeight' : 'height']: `${HEIGHT[row.kind]}px`,
                }}
                tabIndex={index === active ? 0 : -1}
                aria-rowindex={index + 1 + headRows}
                aria-level={row.kind === 'line' || row.kind === 'missing' ? 1 : 2}
                aria-busy={row.kind === 'missing' ? true : undefined}
                aria-expanded={row.kind === 'line' ? row.expanded : undefined}
                aria-selected={row.id === selected}
                data-vscode-context={contextOf(row, version)}
                onFocus={() => {
                  setActive(index);
                  setSelected(row.id);
                  if (row.kind !== 'missing' && row.id !== selected) setDetailed(row.line.id);
                }}
                onClick={() => {
                  if (row.kind !== 'missing') setDetailed(row.line.id);
                  if (row.kind === 'line') toggle(row.id, true);
                }}
                onDblClick={() => openRow(row, measure)}
              >
                {row.kind === 'line' && <LineCells row={row} layout={layout} heat={heat} onToggle={() => toggle(row.id, !row.expanded)} />}
                {row.kind === 'detail' && (
                  <DetailCell line={row.line} columns={layout.columns.length} evidence={evidence} isInPane={detail?.id === row.line.id} />
                )}
                {row.kind === 'access' && <AccessCells row={row} layout={layout} heat={heat} onOpen={() => openRow(row, measure)} />}
              </div>
            );
          })}
        </div>
      </div>
      {detail && <DetailPane key={detail.id} detail={detail} version={version} measure={measure} onClose={closeDetail} />}
    </>
  );
}

/** Of the menu of a row, which the editor shows. */
function contextOf(row: Row, version: number): string | undefined {
  if (row.kind === 'missing') return undefined;
  return rowContext({ version, line: row.line.id, ...(row.kind === 'access' ? { access: row.index } : {}) });
}

/** A line opens the source of its costliest access that has one; an access its own. */
function openRow(row: Row, measure: Measure): void {
  if (row.kind === 'detail' || row.kind === 'missing') return;
  const accesses = row.kind === 'access' ? [row.access] : accessesOf(row.line, measure);
  const place = accesses.map(ownPlace).find((found) => found && found.line > 0);
  if (place) send({ type: 'open', ...place });
}

/** The lines that the host has sent in this order, and what asks for places that are empty. */
function useRanges(
  total: number,
  version: number,
  { key, descending }: Sort,
  measure: Measure,
): [(LineRow | undefined)[], (places: readonly number[]) => void] {
  const fresh = useMemo(() => new Ranges({ version, key, descending }, total), [total, version, key, descending]);
  const [kept, setKept] = useState(fresh);
  const ranges = kept.order === fresh.order ? kept : fresh;
  useEffect(
    () =>
      onMessage((message) => {
        if (message.type === 'lines') setKept((before) => (before.order === fresh.order ? before : fresh).with(message) ?? before);
      }),
    [fresh],
  );
  const rows = useMemo(() => ranges.lines().map((line) => line && lineRow(line, measure)), [ranges, measure]);
  return [rows, (places) => ranges.requests(places).forEach((request) => send({ type: 'lines', ...request }))];
}

/** Pixels inside the element, without its scroll bar. */
function useWidth(element: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(() => window.innerWidth);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const measure = (): void => setWidth(current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

function useVirtualizer(
  rows: readonly Row[],
  table: { current: HTMLDivElement | null },
  headHeight: number,
): Virtualizer<HTMLDivElement, Element> {
  const [, redraw] = useReducer((version: number) => version + 1, 0);
  const options = {
    count: rows.length,
    getScrollElement: () => table.current,
    estimateSize: (index: number) => HEIGHT[rows[index]?.kind ?? 'line'],
    getItemKey: (index: number) => rows[index]?.id ?? index,
    // The titles stay on top of the rows, within the same scrolled element.
    scrollPaddingEnd: headHeight,
    overscan: 12,
    observeElementRect,
    observeElementOffset,
    measureElement,
    scrollToFn: elementScroll,
    onChange: () => redraw(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, Element>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
