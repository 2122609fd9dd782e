// The titles of the table: one row, or two where columns stand in groups. One tab stop; arrow keys go from title to title.
import { useRef, useState } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import type { GroupState } from './fit';
import type { TableLayout } from './layout';
import type { Sort } from './model';

interface HeadProps {
  layout: TableLayout;
  sort: Sort;
  /** Style of a row, and of what holds rows. */
  grid: Record<string, string>;
  wide: Record<string, string>;
  onSort: (sort: Sort) => void;
  onGroup: (key: string, state: GroupState) => void;
}

/** Columns whose first order is ascending: names and addresses. */
const ASCENDING_FIRST: ReadonlySet<string> = new Set(['address', 'object']);

export function TableHead({ layout, sort, grid, wide, onSort, onGroup }: HeadProps) {
  const [active, setActive] = useState(0);
  const head = useRef<HTMLDivElement>(null);
  const buttons = (): HTMLElement[] => [...(head.current?.querySelectorAll('button') ?? [])];
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = buttons();
    const now = all.indexOf(event.target as HTMLElement);
    const targets: Record<string, number> = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: all.length - 1 };
    const target = all[targets[event.key] ?? -1];
    if (!target || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    target.focus();
  };
  const onFocus = (event: FocusEvent): void => setActive(Math.max(0, buttons().indexOf(event.target as HTMLElement)));
  const stop = (index: number): number => (index === active ? 0 : -1);
  const { groups, columns, fixed } = layout;
  return (
    <div
      class={`head${groups.length > 0 ? ' grouped' : ''}`}
      role="rowgroup"
      ref={head}
      style={wide}
      onKeyDown={onKeyDown}
      onFocusCapture={onFocus}
    >
      {groups.length > 0 && (
        <div class="row titles groups" role="row" aria-rowindex={1} style={grid}>
          <div class="column" role="columnheader" aria-colspan={fixed} style={{ gridColumn: `span ${fixed}` }} />
          {groups.map(({ group, state, span }, index) => (
            <div key={group.key} class="column group first" role="columnheader" aria-colspan={span} style={{ gridColumn: `span ${span}` }}>
              <button
                type="button"
                tabIndex={stop(index)}
                aria-expanded={group.columns.length > 1 ? state === 'open' : undefined}
                title={
                  group.columns.length > 1
                    ? t('{0}. Click to {1}.', group.title, state === 'open' ? t('show one column') : t('show all columns'))
                    : group.title
                }
                onClick={() => group.columns.length > 1 && onGroup(group.key, state === 'open' ? 'collapsed' : 'open')}
              >
                <span class="name">{group.name}</span>
                {group.columns.length > 1 && (
                  <svg class="fold" viewBox="0 0 8 8" aria-hidden="true">
                    <path d={state === 'open' ? 'M5.5 1 2.5 4 5.5 7' : 'M2.5 1 5.5 4 2.5 7'} />
                  </svg>
                )}
              </button>
            </div>
          ))}
          <div class="column first" role="columnheader" />
        </div>
      )}
      <div class="row titles" role="row" aria-rowindex={groups.length > 0 ? 2 : 1} style={grid}>
        {columns.map(({ key, name, number, title, column, first }, index) => {
          const direction = sort.key !== key ? 'none' : sort.descending ? 'descending' : 'ascending';
          const kind = column ? `value-cell${first ? ' first' : ''}` : key;
          return (
            <div key={key} role="columnheader" aria-sort={direction} class={`column ${kind}${number ? ' number' : ''}`}>
              <button
                type="button"
                tabIndex={stop(groups.length + index)}
                title={title}
                onClick={() => onSort({ key, descending: sort.key === key ? !sort.descending : !ASCENDING_FIRST.has(key) })}
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
    </div>
  );
}
