// The page's side of the panel protocol, and what it keeps while it is hidden.
import { DEFAULT_SORT, type FromPanel, type ToPanel } from '../../extension/protocol/panel';
import type { GroupKey } from '../../extension/protocol/panel-tabs';
import type { GroupState } from './fit';
import type { Sort } from './model';
import type { TabName } from './tab-views';

export interface PageState {
  sort: Sort;
  expanded: string[];
  /** Of groups of columns, what a person chose. */
  groups: Record<string, GroupState>;
  /** Of the report that was shown last. */
  filter: string;
  /** Of its recording, which the host opens again when the window was loaded again. */
  path: string;
  tab: TabName;
  /** Of the tab "Data". */
  groupBy: GroupKey;
  /** Of tables of other tabs, by their names; `key` is the title of a column. */
  tabSorts: Record<string, Sort>;
}

interface VsCodeApi {
  postMessage(message: FromPanel): void;
  /** What an older page may have kept lacks fields. */
  getState(): Partial<PageState> | undefined;
  setState(state: PageState): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();

export function send(message: FromPanel): void {
  api.postMessage(message);
}

/** @returns what ends it */
export function onMessage(listener: (message: ToPanel) => void): () => void {
  const receive = (event: MessageEvent<ToPanel>): void => listener(event.data);
  window.addEventListener('message', receive);
  return () => window.removeEventListener('message', receive);
}

export function loadState(): PageState {
  return {
    sort: DEFAULT_SORT,
    expanded: [],
    groups: {},
    filter: '',
    path: '',
    tab: 'lines',
    groupBy: 'type',
    tabSorts: {},
    ...api.getState(),
  };
}

/** What is not said stays. */
export function saveState(state: Partial<PageState>): void {
  api.setState({ ...loadState(), ...state });
}
