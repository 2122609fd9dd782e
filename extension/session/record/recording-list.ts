// Recordings as a list shows them: when each was made, of which program, by which collector, and how large it is. All that a
// recording says of itself is untrusted text.
import { t } from '../../protocol/l10n';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RecordingMeta } from '../../protocol/recording';
import { byteSize, printable, shortenMiddle } from '../text/terminal-text';
import { KEPT_FOLDER, keptBytes } from './kept-binaries';
import { isRecordingFile, SUFFIX } from './recording-folder';

export interface ListedRecording {
  /** Absolute: a `.cacheline` folder, or a perf.data file of any name. */
  path: string;
  /** Program and arguments; empty where it does not say them. */
  command: string[];
  /** In ms since 1970: its start, where it does not say that the last change. */
  time: number;
  /** Empty where it does not say it. */
  collector: string;
  /** Of all its files; of kept binaries those that have no other name any more. */
  bytes: number;
  /** False while it is recorded, and where the recorder died. */
  ended: boolean;
}

/** As a row of a list; names are made printable. */
export interface RecordingWords {
  label: string;
  description: string;
  /** All of it, a fact a line. */
  text: string;
}

/** A larger meta.json is not read: those of real recordings have less than a hundredth of this. */
const MOST_META_BYTES = 16 * 1024 * 1024;
const LONGEST_NAME = 60;
const LONGEST_COMMAND = 300;
const FILE_SUFFIX = '.perf.data';
const CLOCK_LENGTH = '08:50'.length;

/** Those that are there, the newest first. One that cannot be looked at is left out, and said in the log. */
export async function listRecordings(paths: Iterable<string>, log: { warn(message: string): void }): Promise<ListedRecording[]> {
  const found = await Promise.all([...new Set(paths)].map((path) => readListed(path, log)));
  return found.filter((one) => one !== undefined).sort((a, b) => b.time - a.time || a.path.localeCompare(b.path));
}

/** Undefined: there is nothing by this path, or a folder without a recording. */
async function readListed(path: string, log: { warn(message: string): void }): Promise<ListedRecording | undefined> {
  try {
    const found = await stat(path);
    const bare = { path, command: [], collector: '', ended: true };
    if (!found.isDirectory()) return { ...bare, time: found.mtimeMs, bytes: found.size };
    const files = await Promise.all(
      (await readdir(path))
        .filter((name) => isRecordingFile(name) && name !== KEPT_FOLDER)
        .map(async (name) => ({ name, ...sizeAndTime(await lstat(join(path, name))) })),
    );
    const data = files.find(({ name }) => name === 'perf.data');
    const meta = files.find(({ name }) => name === 'meta.json');
    if (!data && !meta) return undefined;
    const bytes = files.reduce((sum, { size }) => sum + size, await keptBytes(path));
    const said = meta && meta.size <= MOST_META_BYTES ? metaOf(await readFile(join(path, 'meta.json'), 'utf8')) : {};
    return { ...bare, time: (data ?? meta)?.time ?? found.mtimeMs, bytes, ...said };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') log.warn(t('The recording {0} is not listed: {1}.', path, message));
    return undefined;
  }
}

function sizeAndTime({ size, mtimeMs }: { size: number; mtimeMs: number }): { size: number; time: number } {
  return { size, time: mtimeMs };
}

/** What of it can be used: the file can hold anything. */
function metaOf(text: string): Partial<ListedRecording> {
  let meta: Partial<Record<keyof RecordingMeta, unknown>> | null;
  try {
    meta = JSON.parse(text) as typeof meta;
  } catch (error) {
    if (error instanceof SyntaxError) return {}; // opening it says what is wrong
    throw error;
  }
  const { command, collector, startedAt, durationSeconds } = meta ?? {};
  const time = typeof startedAt === 'string' ? Date.parse(startedAt) : NaN;
  return {
    ...(Array.isArray(command) ? { command: command.filter((word) => typeof word === 'string') } : {}),
    ...(typeof collector === 'string' ? { collector } : {}),
    ...(Number.isNaN(time) ? {} : { time }),
    ended: typeof durationSeconds !== 'number' || durationSeconds > 0,
  };
}

/** @param now in ms since 1970 */
export function recordingWords({ path, command, time, collector, bytes, ended }: ListedRecording, now: number): RecordingWords {
  const name = nameOf(path);
  const program = basename(command[0] ?? '');
  // Recordings are called after their program, with a number where there are several.
  const other = program === '' || name.replace(/-\d+$/, '') === program ? '' : program;
  const state = ended ? '' : t('not ended');
  const facts = [whenText(time, now), other, collector, byteSize(bytes), state].filter((fact) => fact !== '');
  const lines = [
    path,
    command.length === 0 ? t('program unknown') : shortenMiddle(command.map(printable).join(' '), LONGEST_COMMAND),
    `${timeText(time)}, ${collector === '' ? t('collector unknown') : collector}, ${byteSize(bytes)}`,
    ...(ended ? [] : [t('It is being recorded, or its recorder died before the end.')]),
  ];
  return {
    label: shortenMiddle(printable(name), LONGEST_NAME),
    description: facts.map((fact) => shortenMiddle(printable(fact), LONGEST_NAME)).join(' · '),
    text: lines.map(printable).join('\n'),
  };
}

/** Without the suffix of a folder; of a perf.data with the folder that tells it from others. */
function nameOf(path: string): string {
  const { stem } = editableName(path);
  return stem === '' ? `${basename(dirname(path))}/${basename(path)}` : stem;
}

/** The part of a recording's name that a person chooses (empty: none of `perf.data`), and the suffix behind it. */
export function editableName(path: string): { stem: string; suffix: string } {
  const name = basename(path);
  if (name === 'perf.data') return { stem: '', suffix: FILE_SUFFIX };
  const suffix = [SUFFIX, FILE_SUFFIX].find((one) => name.endsWith(one) && name !== one) ?? '';
  return { stem: name.slice(0, name.length - suffix.length), suffix };
}

/** Why a recording cannot be called so; undefined: it can, where nothing else has this name. */
export function whyNoName(stem: string): string | undefined {
  if (stem.trim() === '') return t('A recording needs a name.');
  if (stem.includes('/') || stem.includes('\0')) return t('A name cannot contain "/".');
  if (stem === '.' || stem === '..') return t('"{0}" is a folder\'s own name.', stem);
  return printable(stem) === stem ? undefined : t('A name may contain only visible characters.');
}

/** Names in the folder that are no part of a recording: what would be deleted with it. None of a file. */
export async function foreignFiles(path: string): Promise<string[]> {
  if (!(await lstat(path)).isDirectory()) return [];
  return (await readdir(path)).filter((name) => !isRecordingFile(name)).sort();
}

/** "08:50" of today, "2026-11-26 08:50" of other days, in local time. */
function whenText(time: number, now: number): string {
  const text = timeText(time);
  const today = timeText(now).slice(0, -CLOCK_LENGTH);
  return text.startsWith(today) ? text.slice(today.length) : text;
}

/** "2026-11-26 08:50", in local time. */
function timeText(time: number): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
