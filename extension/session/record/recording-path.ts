// What a person points at when they mean a recording: its folder, a file in it, a perf.data of any name, something dropped.
import { basename, dirname } from 'node:path';
import type { Report } from '../../protocol/report';
import { SUFFIX } from './recording-folder';

const FILES_OF_FOLDER: ReadonlySet<string> = new Set(['perf.data', 'meta.json']);
/** A list that was dropped is looked at this far. */
const MAX_DROPPED = 100;

/** The recording that a file belongs to: the folder around the `perf.data` or `meta.json` of one, else the path itself. */
export function recordingPath(path: string): string {
  const folder = dirname(path);
  return FILES_OF_FOLDER.has(basename(path)) && folder.endsWith(SUFFIX) ? folder : path;
}

/** For people: the recorded program; of a bare file its own name, with its folder where the name says nothing. */
export function recordingTitle({ recording }: Pick<Report, 'recording'>, path: string): string {
  const program = recording?.command[0];
  return program !== undefined && program !== '' ? basename(program) : recordingName(path);
}

/** Of the recording itself: of two of one program it tells which is which. */
export function recordingName(path: string): string {
  const name = basename(path);
  if (name.endsWith(SUFFIX)) return name.slice(0, -SUFFIX.length);
  return name === 'perf.data' ? `${basename(dirname(path))}/${name}` : name;
}

/**
 * What was dropped on the panel, as the editor's explorer and other programs say it.
 * @param data text by type: `resourceurls` is a JSON list, `text/uri-list` one URI a line with `#` comments
 * @returns URIs; empty where nothing of this machine was dropped
 */
export function droppedUris(data: Readonly<Record<string, string>>): string[] {
  const list = jsonStrings(data['resourceurls'] ?? '');
  const lines = (data['text/uri-list'] ?? '').split(/\r?\n/).map((line) => line.trim());
  const uris = list.length > 0 ? list : lines.filter((line) => line !== '' && !line.startsWith('#'));
  return uris.filter((uri) => /^(file|vscode-remote):\/\//.test(uri)).slice(0, MAX_DROPPED);
}

function jsonStrings(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  } catch {
    return []; // no list: the other type says what was dropped
  }
}
