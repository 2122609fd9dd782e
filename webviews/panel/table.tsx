// The table of cache lines: a tree grid with sortable columns, virtual rows, and keys as in the editor's lists.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import { MEASURE_WORDS, type Measure } from '../../extension/protocol/measure';
import { ownPlace } from '../../extension/protocol/own-place';
import {
  DEFAULT_SORT,
  isReportsOrder,
  type OrderedLines,
  type PanelHeat,
  type PanelLine,
  type PanelSummary,
  type RowOrder,
  type UnfoldedLine,
} from '../../extension/protocol/panel';
import { rowContext } from '../../extension/protocol/panel-rows';
import type { TabSubject } from '../../extension/protocol/panel-tabs';
import type { Access } from '../../extension/protocol/report';
import { DetailPane, useDetail } from './detail';
import { Drawn } from './drawn';
import type { GroupState } from './fit';
import { loadState, onMessage, saveState, send } from './host';
import { measureGroups, NARROW_BELOW, tableLayout } from './layout';
import { lineRow, lineRows, type LineRow, type Row, type Sort } from './model';
import { Ranges } from './ranges';
import { HEIGHT, RowList } from './row-list';
import { AccessCells, DetailCell, LineCells } from './rows';
import { TableHead } from './table-head';
import { Toolbar } from './toolbar';
import { useUnfolded } from './unfolded';

/** Of the titles, as the style sheet has it: one row, or two with groups. */
const HEAD_HEIGHT = { plain: 30, grouped: 50 };
/** Pixels above and below what can be seen, for which there are rows; and pixels of scrolling after which they are drawn anew. */
const MARGIN = 12 * HEIGHT.line;
const STEP = 4 * HEIGHT.line;
/** Lines around those on show are asked for behind these, which are drawn first. */
const AROUND_MS = 100;

interface TableProps {
  /** All, or some by which columns are measured: then the others are asked for. */
  lines: PanelLine[];
  /** The first ones in another order. */
  ordered: OrderedLines | undefined;
  /** Of accesses: columns are measured by them, too. */
  examples: Access[];
  total: number;
  /** Of the report. */
  version: number;
  summary: PanelSummary;
  heat: PanelHeat;
  /** A row got the focus. */
  onSelect: (subject: TabSubject) => void;
  /** Shows the code of what is selected. */
  onCode: () => void;
}

export function LineTable({ lines, ordered, examples, total, version, summary: { evidence, c2c }, heat, onSelect, onCode }: TableProps) {
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
  const { width, height, step } = useScrolled(table);

  useEffect(() => {
    const known = new Set(lines.map(({ id }) => id));
    const isKnown = (id: string): boolean => lines.length < total || known.has(id);
    saveState({ sort: chosenSort, expanded: [...expanded].filter(isKnown), groups });
  }, [lines, total, chosenSort, expanded, groups]);

  const measured = useMemo(() => measureGroups(evidence, { lines, examples }), [evidence, lines, examples]);
  const { measure } = heat;
  const layout = useMemo(() => tableLayout(measured, width, groups, MEASURE_WORDS[measure].whole), [measured, width, groups, measure]);
  // A column that this report does not have, or that is hidden now, cannot sort it.
  const sortColumn = layout.columns.find(({ key }) => key === chosenSort.key);
  const sort = sortColumn ? chosenSort : DEFAULT_SORT;
  const here = useMemo(
    () => (lines.length < total ? undefined : lineRows(lines, sort, measure, sortColumn)),
    [lines, total, sort, measure, sortColumn],
  );
  const ranges = useRanges(here ? [] : lines, ordered, here ? 0 : total, version, sort, heat);
  const askAround = useLater();
  const [heights, setHeights] = useState<ReadonlyMap<string, number>>(new Map());
  const places = useMemo(() => placesOf(here, ranges, expanded), [here, ranges, expanded]);
  const unfolded = useUnfolded(
    version,
    places.map(([, id]) => id),
  );
  const rows = useMemo(
    () => rowList(here, ranges, total, places, unfolded, measure, heights),
    [here, ranges, total, places, unfolded, measure, heights],
  );
  const headRows = layout.groups.length > 0 ? 2 : 1;
  const headHeight = layout.groups.length > 0 ? HEAD_HEIGHT.grouped : HEAD_HEIGHT.plain;
  const first = rows.indexAt(step * STEP - MARGIN);
  const last = rows.indexAt((step + 1) * STEP + height + MARGIN);
  const shown = rows.length === 0 ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const wide = layout.grid ? { minWidth: `${layout.grid.width}px` } : {};
  const grid = layout.grid ? { gridTemplateColumns: layout.grid.template, ...wide } : {};

  const toggle = (id: string, open: boolean): void => {
    setExpanded((before) => new Set(open ? [...before, id] : [...before].filter((one) => one !== id)));
  };
  const setGroup = (key: string, state: GroupState): void => setGroups({ ...groups, [key]: state });
  /** Scrolls as little as the row needs. */
  const show = (index: number): void => {
    const { current } = table;
    if (!current) return;
    const top = rows.topOf(index);
    const bottom = top + rows.heightOf(rows.at(index));
    const room = current.clientHeight - headHeight;
    if (top < current.scrollTop) current.scrollTop = top;
    else if (bottom > current.scrollTop + room) current.scrollTop = bottom - room;
  };
  const move = (index: number): void => {
    const target = Math.max(0, Math.min(rows.length - 1, index));
    setActive(target);
    focusWanted.current = true;
    show(target);
  };
  useLayoutEffect(() => {
    const element = focusWanted.current ? table.current?.querySelector<HTMLElement>(`[data-index="${active}"]`) : undefined;
    if (!element) return;
    element.focus({ preventScroll: true });
    focusWanted.current = false;
  });

  const isDetailed = detail !== undefined;
  useEffect(() => {
    if (isDetailed) show(Math.min(active, rows.length - 1)); // the table is less high now
  }, [isDetailed]);
  const closeDetail = (): void => {
    setDetailed('');
    if (rows.length > 0) move(active);
  };

  useLayoutEffect(() => {
    const details = [...(table.current?.querySelectorAll<HTMLElement>('.row.detail') ?? [])];
    const measuredNow = details.map((element): [string, number] => [rows.at(Number(element.dataset['index'])).id, element.offsetHeight]);
    if (measuredNow.some(([id, pixels]) => heights.get(id) !== pixels)) setHeights(new Map([...heights, ...measuredNow]));
  });

  const ask = (choose: 'missing' | 'around'): void => {
    if (here || rows.length === 0) return;
    for (const request of ranges[choose](rows.placeOf(first), rows.placeOf(last))) send({ type: 'lines', ...request });
  };
  useLayoutEffect(() => ask('missing')); // not behind the next frame, which can only show that they are missing
  useEffect(() => askAround(() => ask('around')));

  const onKeyDown = (event: KeyboardEvent): void => {
    if (rows.length === 0) return;
    const row = rows.at(Math.min(active, rows.length - 1));
    const page = Math.max(1, Math.floor((table.current?.clientHeight ?? 0) / HEIGHT.line) - 1 - headRows);
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(active + 1),
      ArrowUp: () => move(active - 1),
      PageDown: () => move(active + page),
      PageUp: () => move(active - page),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      Enter: () => openRow(row),
      ...(isDetailed ? { Escape: closeDetail } : {}),
      ' ': () => row.kind === 'line' && toggle(row.id, !row.expanded),
      ArrowRight: () => (row.kind === 'line' && !row.expanded ? toggle(row.id, true) : move(active + 1)),
      ArrowLeft: () => {
        if (row.kind === 'line') toggle(row.id, false);
        else move(lineAbove(rows, active));
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
        aria-label={t('Contended cache lines')}
        aria-rowcount={rows.length + headRows}
        ref={table}
        style={{ '--table-width': `${width}px` }}
      >
        <TableHead layout={layout} sort={sort} grid={grid} wide={wide} onSort={setSort} onGroup={setGroup} />
        <div class="body" role="rowgroup" onKeyDown={onKeyDown} style={{ height: `${rows.height}px`, ...wide }}>
          {shown.map((index) => {
            const row = rows.at(index);
            const { place, of } = rows.besideAt(index);
            return (
              <div
                key={index}
                role="row"
                data-index={index}
                class={`row ${row.kind}`}
                style={{
                  ...grid,
                  top: `${rows.topOf(index)}px`,
                  [row.kind === 'detail' ? 'minHeight' : 'height']: `${HEIGHT[row.kind]}px`,
                }}
                tabIndex={index === active ? 0 : -1}
                aria-rowindex={index + 1 + headRows}
                aria-level={row.kind === 'line' || row.kind === 'missing' ? 1 : 2}
                aria-posinset={place}
                aria-setsize={of}
                aria-busy={row.kind === 'missing' ? true : undefined}
                aria-expanded={row.kind === 'line' ? row.expanded : undefined}
                aria-selected={row.id === selected}
                data-vscode-context={contextOf(row, version)}
                onFocus={() => {
                  setActive(index);
                  setSelected(row.id);
                  if (row.kind === 'missing') return;
                  if (row.id !== selected) setDetailed(row.line.id);
                  onSelect({ line: row.line.id, ...(row.kind === 'access' ? { access: row.index } : {}) });
                }}
                onClick={() => {
                  if (row.kind !== 'missing') setDetailed(row.line.id);
                  if (row.kind === 'line') toggle(row.id, true);
                }}
                onDblClick={() => openRow(row)}
              >
                {row.kind === 'line' && (
                  <Drawn by={[row.line, row.expanded, layout, heat]}>
                    {() => <LineCells row={row} layout={layout} heat={heat} onToggle={() => toggle(row.id, !row.expanded)} />}
                  </Drawn>
                )}
                {row.kind === 'detail' && (
                  <DetailCell line={row.line} columns={layout.columns.length} evidence={evidence} isInPane={detail?.id === row.line.id} />
                )}
                {row.kind === 'access' && (
                  <Drawn by={[row.line, row.access, layout, heat]}>
                    {() => <AccessCells row={row} layout={layout} heat={heat} onOpen={() => openRow(row)} />}
                  </Drawn>
                )}
              </div>
            );
          })}
        </div>
      </div>
      {detail && <DetailPane key={detail.id} detail={detail} version={version} measure={measure} onCode={onCode} onClose={closeDetail} />}
    </>
  );
}

/** Of the menu of a row, which the editor shows. */
function contextOf(row: Row, version: number): string | undefined {
  if (row.kind === 'missing') return undefined;
  return rowContext({ version, line: row.line.id, ...(row.kind === 'access' ? { access: row.index } : {}) });
}

/** A line opens the source of its costliest access that has one; an access its own. */
function openRow(row: Row): void {
  if (row.kind === 'detail' || row.kind === 'missing') return;
  const place = row.kind === 'access' ? ownPlace(row.access) : row.line.place;
  if (place && place.line > 0) send({ type: 'open', ...place });
}

/**
 * Of the expanded lines that are here their places, ascending, and ids.
 * @param here all lines; undefined: they come from the host
 */
function placesOf(here: LineRow[] | undefined, ranges: Ranges, expanded: ReadonlySet<string>): [number, string][] {
  if (expanded.size === 0) return [];
  const lines: [number, { id: string }][] = here ? [...here.entries()] : ranges.sent();
  return lines.filter(([, { id }]) => expanded.has(id)).map(([place, { id }]) => [place, id]);
}

function rowList(
  here: LineRow[] | undefined,
  ranges: Ranges,
  total: number,
  places: readonly (readonly [number, string])[],
  unfolded: ReadonlyMap<string, UnfoldedLine>,
  measure: Measure,
  heights: ReadonlyMap<string, number>,
): RowList {
  const lineAt = (place: number): LineRow | undefined => {
    if (here) return here[place];
    const line = ranges.at(place);
    return line && lineRow(line);
  };
  const opened = places.map(([place, id]) => [place, unfolded.get(id)] as const);
  return new RowList(here ? here.length : total, lineAt, opened, measure, heights);
}

/** The nearest line above a row; of lines that are not here yet none. */
function lineAbove(rows: RowList, below: number): number {
  let index = Math.min(below, rows.length) - 1;
  while (index > 0 && rows.at(index).kind !== 'line') --index;
  return index;
}

/** The lines that the host has sent in this order. */
function useRanges(
  first: PanelLine[],
  ordered: TableProps['ordered'],
  total: number,
  version: number,
  { key, descending }: Sort,
  { metric }: PanelHeat,
): Ranges {
  const last = useRef<{ ranges: Ranges; first: PanelLine[] }>();
  const fresh = useMemo(() => {
    const before = last.current;
    // Another metric changes the order of its own column alone.
    if (
      before?.first === first &&
      key !== DEFAULT_SORT.key &&
      before.ranges.order.key === key &&
      before.ranges.order.descending === descending
    )
      return before.ranges.as(version);
    const order = { key, descending, metric };
    const other = ordered && isOrder(ordered.order, order) ? ordered.lines : [];
    return Ranges.from({ version, key, descending }, total, isReportsOrder(order) ? first : other);
  }, [first, ordered, total, version, key, descending, metric]);
  const [kept, setKept] = useState(fresh);
  useEffect(
    () =>
      onMessage((message) => {
        if (message.type === 'lines') setKept((before) => (before.order === fresh.order ? before : fresh).with(message) ?? before);
      }),
    [fresh],
  );
  const ranges = kept.order === fresh.order ? kept : fresh;
  last.current = { ranges, first };
  return ranges;
}

/** @returns a function that has the last one of those it gets called, AROUND_MS behind the first one */
function useLater(): (act: () => void) => void {
  const [later] = useState<{ act: () => void; timer: number | undefined }>({ act: () => undefined, timer: undefined });
  useEffect(() => () => clearTimeout(later.timer), [later]);
  return (act) => {
    later.act = act;
    later.timer ??= window.setTimeout(() => {
      later.timer = undefined;
      later.act();
    }, AROUND_MS);
  };
}

/** Another metric changes the order of its own column alone. */
function isOrder(a: RowOrder, b: RowOrder): boolean {
  return a.key === b.key && a.descending === b.descending && (a.key !== DEFAULT_SORT.key || a.metric === b.metric);
}

/** Pixels inside the element, without its scroll bar, and by how many steps it is scrolled. */
function useScrolled(element: { current: HTMLDivElement | null }): { width: number; height: number; step: number } {
  const [size, setSize] = useState(() => ({ width: window.innerWidth, height: window.innerHeight }));
  const [step, setStep] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const measure = (): void => setSize({ width: current.clientWidth, height: current.clientHeight });
    const scroll = (): void => setStep(Math.floor(current.scrollTop / STEP));
    measure();
    scroll();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    current.addEventListener('scroll', scroll, { passive: true });
    return () => {
      observer.disconnect();
      current.removeEventListener('scroll', scroll);
    };
  }, [element]);
  return { ...size, step };
}
