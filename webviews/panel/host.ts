// The page's side of the panel protocol, and what it keeps while it is hidden.
import type { FromPanel, ToPanel } from '../../extension/protocol/panel';
import { DEFAULT_SORT, type Sort } from './model';

export interface PageState {
  sort: Sort;
  expanded: string[];
}

interface VsCodeApi {
  postMessage(message: FromPanel): void;
  getState(): PageState | undefined;
  setState(state: PageState): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();

export function send(message: FromPanel): void {
  api.postMessage(message);
}

export function onMessage(listener: (message: ToPanel) => void): void {
  window.addEventListener('message', (event: MessageEvent<ToPanel>) => listener(event.data));
}

export function loadState(): PageState {
  return api.getState() ?? { sort: DEFAULT_SORT, expanded: [] };
}

export function saveState(state: PageState): void {
  api.setState(state);
}
