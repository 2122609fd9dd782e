// Messages of the panel's page, which is untrusted: only what protocol/panel.ts allows is let in.
import { HEAT_METRICS, type HeatMetric } from '../protocol/measure';
import { MOST_LINES_AT_ONCE, type FromPanel } from '../protocol/panel';
import { ROW_ACTIONS, rowId, type RowAction } from '../protocol/panel-rows';
import type { Display } from '../protocol/report';
import { tabRequest } from './panel-tabs';

const DISPLAYS: readonly Display[] = ['tot', 'lcl', 'rmt', 'peer'];

/** Undefined: the message is none of the protocol. */
export function parseMessage(message: unknown): FromPanel | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const {
    type,
    file,
    line,
    metric,
    display,
    data,
    message: text,
    filter,
    action,
    id,
    access,
    ...lines
  } = message as Record<string, unknown>;
  switch (type) {
    case 'ready':
      return typeof filter === 'string' ? { type, filter } : undefined;
    case 'advice':
    case 'allAdvice':
    case 'profile':
    case 'openRecording':
    case 'retry':
    case 'reopen':
      return { type };
    case 'painted':
      return typeof lines.version === 'number' ? { type, version: lines.version } : undefined;
    case 'open':
      return typeof file === 'string' && typeof line === 'number' ? { type, file, line } : undefined;
    case 'lines':
      return linesRequest(lines);
    case 'filter':
      return typeof filter === 'string' && typeof lines.version === 'number' ? { type, version: lines.version, filter } : undefined;
    case 'detail':
    case 'unfold':
      return typeof id === 'string' && typeof lines.version === 'number' ? { type, version: lines.version, id } : undefined;
    case 'row': {
      const row = rowId(lines.version, line, access);
      return row && isOneOf<RowAction>(ROW_ACTIONS, action) ? { type, action, ...row } : undefined;
    }
    case 'tab': {
      const request = tabRequest({ ...lines, filter });
      return request && typeof lines.version === 'number' ? { type, version: lines.version, ...request } : undefined;
    }
    case 'metric':
      return isOneOf<HeatMetric>(HEAT_METRICS, metric) ? { type, metric } : undefined;
    case 'display':
      return isOneOf<Display>(DISPLAYS, display) ? { type, display } : undefined;
    case 'drop':
      return isTexts(data) ? { type, data } : undefined;
    case 'error':
      return typeof text === 'string' ? { type, message: text } : undefined;
    default:
      return undefined;
  }
}

function linesRequest({ version, key, descending, offset, count }: Record<string, unknown>): FromPanel | undefined {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount(version) &&
    isCount(offset) &&
    isCount(count) &&
    count <= MOST_LINES_AT_ONCE &&
    typeof key === 'string' &&
    typeof descending === 'boolean'
    ? { type: 'lines', version, key, descending, offset, count }
    : undefined;
}

function isOneOf<T>(known: readonly T[], value: unknown): value is T {
  return known.some((one) => one === value);
}

function isTexts(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string');
}
