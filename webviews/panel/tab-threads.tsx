// What threads did over time as lanes, and their times and those of CPUs as tables.
import { Fragment } from 'preact';
import { t } from '../../extension/protocol/l10n';
import { LANE_STATES, type LaneState, type TabThreads } from '../../extension/protocol/panel-tabs';
import type { Sort } from './model';
import { Notes, Rows } from './tab-table';

interface Sorting {
  sort: Sort;
  onSort: (sort: Sort) => void;
}

interface ThreadsProps {
  threads: TabThreads;
  sortThreads: Sorting;
  sortCpus: Sorting;
}

export function Threads({ threads: shown, sortThreads, sortCpus }: ThreadsProps) {
  const { facts, advice, sentences, lanes, legend, threads, cpus, notes, warnings } = shown;
  return (
    <div class="tab-scroll">
      <dl class="tab-note facts">
        {facts.map(({ name, text }) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </Fragment>
        ))}
      </dl>
      {sentences.map((text) => (
        <p key={text} class="tab-note">
          {text}
        </p>
      ))}
      {advice !== '' && <p class="tab-note">{advice}</p>}
      {lanes.length > 0 && (
        <>
          <ul class="tab-note legend" aria-label={t('Colours of the lanes')}>
            {legend.map(({ state, words }) => (
              <li key={state}>
                <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
                  <rect class={`lane-${state}`} width="1" height="1" />
                </svg>
                {words}
              </li>
            ))}
          </ul>
          <div class="lanes">
            {lanes.map(({ name, states }, index) => (
              <Fragment key={index}>
                <span class="mono lane-name" title={name}>
                  {name}
                </span>
                <Lane name={name} states={states} />
              </Fragment>
            ))}
          </div>
        </>
      )}
      <h2 class="tab-note">{t('Threads')}</h2>
      <Rows table={threads} {...sortThreads} />
      <h2 class="tab-note">{t('CPUs, of these threads')}</h2>
      <Rows table={cpus} {...sortCpus} />
      <Notes notes={notes} warnings={warnings} />
    </div>
  );
}

/** A unit wide a part of the time, a unit high. */
function Lane({ name, states }: TabThreads['lanes'][number]) {
  const parts = states.running.length;
  return (
    <svg class="lane" viewBox={`0 0 ${parts} 1`} preserveAspectRatio="none" role="img" aria-label={t('{0} over time', name)}>
      {LANE_STATES.map((state) => {
        const path = lanePath(state, states);
        return path === '' ? null : <path key={state} class={`lane-${state}`} d={path} />;
      })}
    </svg>
  );
}

/** Rectangles of a state above those of the states before it, from the bottom; empty: it is nowhere. */
function lanePath(state: LaneState, states: Record<LaneState, number[]>): string {
  const below = LANE_STATES.slice(0, LANE_STATES.indexOf(state));
  return states[state]
    .map((share, part) => {
      if (share === 0) return '';
      const bottom = 1 - below.reduce((sum, other) => sum + (states[other][part] ?? 0), 0);
      return `M${part} ${bottom}h1v${-share}h-1z`;
    })
    .join('');
}
