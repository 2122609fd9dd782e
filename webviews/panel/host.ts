// The page's side of the panel protocol, and what it keeps while it is hidden.
import type { FromPanel, ToPanel } from '../../extension/protocol/panel';
import type { GroupState } from './fit';
import { DEFAULT_SORT, type Sort } from './model';

export interface PageState {
  sort: Sort;
  expanded: string[];
  /** Of groups of columns, what a person chose. */
  groups: Record<string, GroupState>;
  /** Of the report that was shown last. */
  filter: string;
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
  return { sort: DEFAULT_SORT, expanded: [], groups: {}, filter: '', ...api.getState() };
}

/** The other parts stay. */
export function saveState(part: Partial<PageState>): void {
  api.setState({ ...loadState(), ...part });
}
