// The files that a check reads: a baseline, and what is accepted. They are input of others: each is read in full or refused.
import { readFile } from 'node:fs/promises';
import { EngineError } from '../../protocol/engine';
import { RULES, type Acceptance, type Check, type Rule, type Waiting } from '../../protocol/check';
import type { Baseline } from './check';

const AGAIN = 'Make it again: cacheline check RECORDING --format json -o FILE.';
const SHAPE = 'It is a list of { "rule", "type", "member", "reason", "until" } (docs/ci.md).';

/** @throws EngineError 'unreadable' where it is no document of this version */
export async function readBaseline(path: string): Promise<Baseline> {
  const document = await readJson(path, AGAIN);
  const { schema } = isObject(document) ? document : {};
  if (schema !== 'cacheline-check/1')
    throw new EngineError(
      'unreadable',
      `${path} is not a baseline: its schema is ${schema === undefined ? 'missing' : JSON.stringify(schema)}, not "cacheline-check/1".`,
      AGAIN,
    );
  const { samples, evidence, findings, below } = document as Partial<Check>;
  const waiting = [findings, below].flatMap((list: unknown) => (Array.isArray(list) ? (list as unknown[]) : [undefined]));
  if (!isObject(samples) || !isCount(samples['total']) || !Array.isArray(evidence) || !waiting.every(isWaiting))
    throw new EngineError(
      'unreadable',
      `${path} is a damaged baseline: samples, evidence, findings or below are not what they should be.`,
      AGAIN,
    );
  return { path, evidence, samples: samples['total'], waiting };
}

/** @throws EngineError 'unreadable' with the first entry that is wrong */
export async function readAcceptances(path: string): Promise<Acceptance[]> {
  const document = await readJson(path, SHAPE);
  if (!Array.isArray(document)) throw new EngineError('unreadable', `${path} does not hold a list.`, SHAPE);
  return document.map((entry: unknown, index) => {
    const wrong = whyNoAcceptance(entry);
    if (wrong !== undefined) throw new EngineError('unreadable', `${path}, entry ${index + 1}: ${wrong}.`, SHAPE);
    return entry as Acceptance;
  });
}

async function readJson(path: string, nextStep: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new EngineError('unreadable', `${path} cannot be read: ${(error as Error).message}.`, nextStep);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new EngineError('unreadable', `${path} is not JSON: ${(error as Error).message}.`, nextStep);
  }
}

function whyNoAcceptance(entry: unknown): string | undefined {
  if (!isObject(entry)) return 'it is not an object';
  const { rule, type, member, reason, until } = entry;
  if (!isRule(rule)) return `"rule" is ${rule === undefined ? 'missing' : JSON.stringify(rule)}, not one of ${RULES.join(', ')}`;
  if (typeof type !== 'string') return '"type" is not a string';
  if (typeof member !== 'string') return '"member" is not a string';
  if (typeof reason !== 'string' || reason.trim() === '') return '"reason" does not say why it is accepted';
  if (until !== undefined && until !== null && !isDay(until)) return `"until" is ${JSON.stringify(until)}, not a day as 2030-12-31`;
  if (until === null) delete entry['until'];
  return undefined;
}

function isDay(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));
}

function isWaiting(value: unknown): value is Waiting {
  if (!isObject(value)) return false;
  const { rule, type, member, contended, programShare } = value;
  return isRule(rule) && typeof type === 'string' && typeof member === 'string' && isCount(contended) && typeof programShare === 'number';
}

function isRule(value: unknown): value is Rule {
  return RULES.some((rule) => rule === value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
