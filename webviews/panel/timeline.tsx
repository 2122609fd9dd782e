// Contention over time as bars. Dragging over them, or Shift and the arrow keys, chooses a window for the filter.
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import type { TabTimeline, TimelinePart } from '../../extension/protocol/panel-tabs';
import { count, plural } from './format';
import { onMessage, send } from './host';
import { Notes } from './tab-table';
import { timeOf, withTime } from './tab-views';

/** The window is set when it has not changed for so long. */
const DEBOUNCE_MS = 300;

interface TimelineProps {
  timeline: TabTimeline;
  /** Of the report. */
  filter: string;
  version: number;
}

/** Numbers of parts, both included. */
interface Chosen {
  first: number;
  last: number;
}

export function Timeline({ timeline: { parts, totals, notes, warnings }, filter, version }: TimelineProps) {
  /** Undefined: what the filter says. */
  const [wanted, setWanted] = useState<Chosen | 'all' | undefined>(undefined);
  const [active, setActive] = useState(0);
  /** Where dragging began, or the keys. */
  const anchor = useRef(0);
  const chart = useRef<HTMLDivElement>(null);
  useEffect(() => setWanted(undefined), [filter]);
  useEffect(() => onMessage((message) => message.type === 'filterFailed' && message.problem !== '' && setWanted(undefined)), []);
  const chosen = wanted === undefined ? chosenBy(filter, parts) : wanted === 'all' ? undefined : wanted;
  const next = wanted === undefined ? filter : withTime(filter, windowOf(chosen, parts));
  useEffect(() => {
    if (next === filter) return undefined;
    const timer = setTimeout(() => send({ type: 'filter', version, filter: next }), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [next, filter, version]);

  const choose = (to: number): void => setWanted({ first: Math.min(anchor.current, to), last: Math.max(anchor.current, to) });
  const partAt = ({ clientX }: PointerEvent): number => {
    const { left = 0, width = 1 } = chart.current?.getBoundingClientRect() ?? {};
    return Math.max(0, Math.min(parts.length - 1, Math.floor(((clientX - left) / width) * parts.length)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = { ArrowRight: active + 1, ArrowLeft: active - 1, Home: 0, End: parts.length - 1 };
    const target = moves[event.key];
    const acts: Record<string, () => void> = { Escape: () => setWanted('all'), Enter: () => choose(active), ' ': () => choose(active) };
    const act = acts[event.key];
    if ((target === undefined && !act) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (target === undefined) {
      if (!event.shiftKey) anchor.current = active;
      act?.();
      return;
    }
    const to = Math.max(0, Math.min(parts.length - 1, target));
    setActive(to);
    if (event.shiftKey) choose(to);
    else anchor.current = to;
    (chart.current?.children[to] as HTMLElement | undefined)?.focus();
  };

  const most = Math.max(1, ...parts.map(({ contended }) => contended));
  if (parts.length === 0) {
    return (
      <div class="tab-scroll">
        <p class="tab-note">{t('The samples of this recording have no times.')}</p>
        <Notes notes={notes} warnings={warnings} />
      </div>
    );
  }
  return (
    <div class="tab-scroll">
      <p class="tab-note quiet totals">{totals}</p>
      <p class="tab-note">{t('Contended samples over time. Drag over the bars to keep the samples of a window.')}</p>
      <div class="timeline">
        <span class="quiet most">{plural(most, 'sample')}</span>
        <div
          class={`parts${chosen ? ' chosen' : ''}`}
          role="listbox"
          aria-label={t('Contended samples over time')}
          aria-multiselectable="true"
          aria-orientation="horizontal"
          ref={chart}
          onKeyDown={onKeyDown}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            anchor.current = partAt(event);
            setActive(anchor.current);
            choose(anchor.current);
          }}
          onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && choose(partAt(event))}
        >
          {parts.map((part, index) => (
            <div
              key={part.from}
              role="option"
              class="part"
              aria-selected={chosen !== undefined && index >= chosen.first && index <= chosen.last}
              aria-label={partText(part)}
              title={partText(part)}
              tabIndex={index === Math.min(active, parts.length - 1) ? 0 : -1}
              onFocus={() => setActive(index)}
            >
              <span style={{ height: `${(part.contended / most) * 100}%` }} />
            </div>
          ))}
        </div>
        <span class="quiet axis">
          <span>{axisText(parts[0]?.from)}</span>
          <span>{axisText(parts.at(-1)?.to)}</span>
        </span>
      </div>
      <p class="tab-note chosen-window" role="status">
        {chosen === undefined ? t('All times are shown.') : chosenText(chosen, parts)}{' '}
        {chosen !== undefined && (
          <button type="button" class="link" onClick={() => setWanted('all')}>
            {t('Show All Times')}
          </button>
        )}{' '}
        {next !== filter && <span class="quiet">{t('Filtering…')}</span>}
      </p>
      <Notes notes={notes} warnings={warnings} />
    </div>
  );
}

/** "0.268 s": the bars' own times are exact. */
function axisText(seconds: string | undefined): string {
  return `${Number(Number(seconds).toPrecision(3))} s`;
}

function partText({ from, to, contended, share }: TimelinePart): string {
  return t('{0}–{1} s: {2} contended, {3}', from, to, count(contended), share);
}

/** The parts that a filter's window touches. */
function chosenBy(filter: string, parts: readonly TimelinePart[]): Chosen | undefined {
  const time = timeOf(filter);
  if (!time) return undefined;
  const touched = parts.flatMap(({ from, to }, index) => (Number(to) > time.from && Number(from) < time.to ? [index] : []));
  const [first] = touched;
  const last = touched.at(-1);
  return first === undefined || last === undefined ? undefined : { first, last };
}

/** "0.50-1.25s"; empty: all times. */
function windowOf(chosen: Chosen | undefined, parts: readonly TimelinePart[]): string {
  const [from, to] = [parts[chosen?.first ?? -1]?.from, parts[chosen?.last ?? -1]?.to];
  return from === undefined || to === undefined ? '' : `${from}-${to}s`;
}

function chosenText(chosen: Chosen, parts: readonly TimelinePart[]): string {
  const some = parts.slice(chosen.first, chosen.last + 1);
  const contended = some.reduce((sum, part) => sum + part.contended, 0);
  const whole = parts.reduce((sum, part) => sum + part.contended, 0);
  return t('{0}–{1} s: {2} of {3} contended samples.', some[0]?.from ?? '', some.at(-1)?.to ?? '', count(contended), count(whole));
}
