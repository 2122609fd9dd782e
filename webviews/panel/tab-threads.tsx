// What threads did over time as lanes, and their times and those of CPUs as tables.
import { Fragment } from 'preact';
import { t } from '../../extension/protocol/l10n';
import { LANE_STATES, type LaneState, type TabThreads } from '../../extension/protocol/panel-tabs';
import { plural } from './format';
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
  const { facts, advice, sentences, lanes, span, legend, nodes, threads, cpus, notes, warnings } = shown;
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
      )}
      <div class="lanes">
        {lanes.map((lane, index) => (
          <Fragment key={index}>
            <span class="mono lane-name" title={lane.name}>
              {lane.name}
            </span>
            <Lane {...lane} />
          </Fragment>
        ))}
        {lanes.length > 0 && (
          <span class="quiet axis">
            <span>0</span>
            <span>{span}</span>
          </span>
        )}
        {nodes.map(({ name: node, cpus: ofNode }) => (
          <Fragment key={node}>
            <h2>{node}</h2>
            {ofNode.map(({ name, running }) => (
              <Fragment key={name}>
                <span class="mono lane-name">{name}</span>
                <svg
                  class="lane"
                  viewBox={`0 0 ${running.length} 1`}
                  preserveAspectRatio="none"
                  role="img"
                  aria-label={t('{0} over time', name)}
                >
                  <path class="lane-running" d={barsPath(running, () => 1)} />
                </svg>
              </Fragment>
            ))}
          </Fragment>
        ))}
      </div>
      <h2 class="tab-note">{t('Threads')}</h2>
      <Rows table={threads} {...sortThreads} />
      <h2 class="tab-note">{t('CPUs, of these threads')}</h2>
      <Rows table={cpus} {...sortCpus} />
      <Notes notes={notes} warnings={warnings} />
    </div>
  );
}

/** Of a lane's height: where it was put on another CPU. */
const MOVE_HEIGHT = 0.3;

/** A unit wide a part of the time, a unit high, with marks below it. */
function Lane({ name, states, moves }: TabThreads['lanes'][number]) {
  const parts = states.running.length;
  const times = moves.reduce((sum, one) => sum + one, 0);
  const label = times === 0 ? t('{0} over time', name) : t('{0} over time, put on another CPU {1}', name, plural(times, 'time'));
  return (
    <svg class="lane thread" viewBox={`0 0 ${parts} ${1 + MOVE_HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {LANE_STATES.map((state) => {
        const path = lanePath(state, states);
        return path === '' ? null : <path key={state} class={`lane-${state}`} d={path} />;
      })}
      <path
        class="lane-moves"
        d={barsPath(
          moves.map((one) => (one > 0 ? MOVE_HEIGHT * 0.7 : 0)),
          () => 1 + MOVE_HEIGHT,
        )}
      />
    </svg>
  );
}

/** Rectangles of a state above those of the states before it, from the bottom; empty: it is nowhere. */
function lanePath(state: LaneState, states: Record<LaneState, number[]>): string {
  const below = LANE_STATES.slice(0, LANE_STATES.indexOf(state));
  return barsPath(states[state], (part) => 1 - below.reduce((sum, other) => sum + (states[other][part] ?? 0), 0));
}

/** Rectangles a unit wide that stand on `bottom`, counted from above. */
function barsPath(heights: readonly number[], bottom: (part: number) => number): string {
  return heights.map((height, part) => (height === 0 ? '' : `M${part} ${bottom(part)}h1v${-height}h-1z`)).join('');
}
