// The page's side of the protocol.
import type { FromCompare } from '../../extension/protocol/compare';

declare function acquireVsCodeApi(): { postMessage(message: FromCompare): void };

const api = acquireVsCodeApi();

export function send(message: FromCompare): void {
  api.postMessage(message);
}
