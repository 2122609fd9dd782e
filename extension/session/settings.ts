// The settings, typed once: a test compares them with `contributes.configuration` of package.json.
import { t } from '../protocol/l10n';
import type { CollectorChoice } from '../protocol/engine';
import { HEAT_METRICS, type HeatMetric } from '../protocol/measure';
import { parseLaunchEntries, type LaunchEntry } from './record/launch';
import { COLLECTORS, DEFAULT_FREQUENCY, HIGHEST_FREQUENCY } from './record/recording-choices';

export interface Settings {
  launch: LaunchEntry[];
  recordingFolder: string;
  frequency: number;
  collector: CollectorChoice;
  /** The most suspect words are watched, too. */
  confirm: boolean;
  /** Seconds that a running process is recorded; 0: until it is stopped. */
  attachDuration: number;
  gutterStyle: 'icon' | 'border';
  /** From which share on, in percent of what was measured in the whole recording, lines have a mark; 0: all of them. */
  gutterFrom: number;
  lineText: boolean;
  /** The same of the text after lines and members. */
  lineTextFrom: number;
  /** While a comparison is open, lines show what it changed. */
  compareHeat: boolean;
  heatMetric: HeatMetric | 'auto';
  /** Folders (or files) of recorded machines, and what they are here. */
  sourceMap: Record<string, string>;
  /** Cards of types without samples too. */
  'layout.alwaysShow': boolean;
  /** Where layouts come from without a profile; empty: the program that was profiled last. */
  'layout.binary': string;
  /** The card's picture as a list. */
  'layout.text': boolean;
  codeLens: boolean;
  /** The same of the line above types. */
  codeLensFrom: number;
  memberText: boolean;
  /** From which percent on contended data is in the list of problems; 0: none is. */
  problems: number;
  /** `cacheline` on the PATH of the editor's terminals. */
  terminalPath: boolean;
}

/** Those that each folder of a workspace may have of its own: `"scope": "resource"` in package.json. */
export const FOLDER_SETTINGS = [
  'launch',
  'recordingFolder',
  'frequency',
  'collector',
  'confirm',
  'attachDuration',
  'layout.binary',
] as const satisfies readonly (keyof Settings)[];
export type FolderSetting = (typeof FOLDER_SETTINGS)[number];

/** One setting: what package.json declares, and how a value written by hand is read. */
export interface SettingSpec<T> {
  type: 'array' | 'string' | 'number' | 'boolean' | 'object';
  /** As package.json writes it. */
  default: unknown;
  values?: readonly string[];
  minimum?: number;
  maximum?: number;
  /** A value that does not fit is replaced by the default, with a problem that says so. */
  parse(value: unknown): { value: T; problems: string[] };
}

export const SETTINGS: { [K in keyof Settings]: SettingSpec<Settings[K]> } = {
  launch: {
    type: 'array',
    default: [],
    parse(value) {
      const { entries, problems } = parseLaunchEntries(value);
      return { value: entries, problems };
    },
  },
  recordingFolder: text('recordingFolder'),
  frequency: wholeNumber('frequency', DEFAULT_FREQUENCY, 1, HIGHEST_FREQUENCY),
  collector: choice('collector', COLLECTORS),
  confirm: flag('confirm', false),
  attachDuration: wholeNumber('attachDuration', 0, 0, 86_400),
  gutterStyle: choice('gutterStyle', ['icon', 'border']),
  gutterFrom: percentage('gutterFrom'),
  lineText: flag('lineText', true),
  lineTextFrom: percentage('lineTextFrom'),
  compareHeat: flag('compareHeat', true),
  heatMetric: choice('heatMetric', ['auto', ...HEAT_METRICS]),
  sourceMap: {
    type: 'object',
    default: {},
    parse: parseSourceMap,
  },
  'layout.alwaysShow': flag('layout.alwaysShow', false),
  'layout.binary': text('layout.binary'),
  'layout.text': flag('layout.text', false),
  codeLens: flag('codeLens', true),
  codeLensFrom: percentage('codeLensFrom'),
  memberText: flag('memberText', true),
  problems: percentage('problems'),
  terminalPath: flag('terminalPath', true),
};

function flag(name: string, fallback: boolean): SettingSpec<boolean> {
  return {
    type: 'boolean',
    default: fallback,
    parse: (value) => (typeof value === 'boolean' ? fits(value) : misfit(name, value, fallback)),
  };
}

/** The first value is the default. */
function choice<T extends string>(name: string, values: readonly [T, ...T[]]): SettingSpec<T> {
  const [fallback] = values;
  return {
    type: 'string',
    default: fallback,
    values,
    parse(value) {
      const known = values.find((one) => one === value);
      return known === undefined ? misfit(name, value, fallback) : fits(known);
    },
  };
}

function wholeNumber(name: string, fallback: number, minimum: number, maximum: number): SettingSpec<number> {
  return {
    type: 'number',
    default: fallback,
    minimum,
    maximum,
    parse: (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
        ? fits(value)
        : misfit(name, value, fallback),
  };
}

function percentage(name: string): SettingSpec<number> {
  return {
    type: 'number',
    default: 0,
    minimum: 0,
    maximum: 100,
    parse: (value) => (typeof value === 'number' && value >= 0 && value <= 100 ? fits(value) : misfit(name, value, 0)),
  };
}

function text(name: string): SettingSpec<string> {
  return { type: 'string', default: '', parse: (value) => (typeof value === 'string' ? fits(value) : misfit(name, value, '')) };
}

/** Entries that are no texts are left out, each with a problem. */
function parseSourceMap(value: unknown): { value: Record<string, string>; problems: string[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return misfit<Record<string, string>>('sourceMap', value, {});
  const good = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && !entry.includes(''));
  const bad = Object.keys(value).filter((from) => !good.some(([known]) => known === from));
  return {
    value: Object.fromEntries(good),
    problems: bad.map((from) => t('cacheline.sourceMap: the entry {0} needs a path on both sides; it is left out.', JSON.stringify(from))),
  };
}

function fits<T>(value: T): { value: T; problems: string[] } {
  return { value, problems: [] };
}

function misfit<T>(name: string, value: unknown, fallback: T): { value: T; problems: string[] } {
  return {
    value: fallback,
    problems: [t('cacheline.{0} cannot be {1}: using {2}.', name, JSON.stringify(value), JSON.stringify(fallback))],
  };
}
