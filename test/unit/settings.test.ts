// package.json declares exactly the settings, commands and colours that the code knows.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { settingsFile, settingsReference } from '../../scripts/settings.mjs';
import { FOLDER_SETTINGS, SETTINGS, type SettingSpec } from '../../extension/session/settings';
import { ROW_COMMANDS } from '../../extension/protocol/panel-rows';

interface Declared {
  type: string;
  default: unknown;
  scope?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  items?: { properties: Record<string, unknown> };
}

const root = path.resolve(__dirname, '../..');
const { contributes } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  contributes: {
    commands: { command: string }[];
    colors: { id: string }[];
    customEditors: { viewType: string; selector: { filenamePattern: string }[] }[];
    taskDefinitions: { type: string; properties: object }[];
    debuggers: { type: string; configurationAttributes: { launch: { properties: object }; attach: { properties: object } } }[];
    configuration: { properties: Record<string, Declared> };
  };
};
const declared = contributes.configuration.properties;
const specs = Object.entries(SETTINGS) as [string, SettingSpec<unknown>][];

describe('settings', () => {
  it('are the ones of package.json', () => {
    assert.deepEqual(Object.keys(declared).sort(), specs.map(([name]) => `cacheline.${name}`).sort());
  });

  it('of a folder are those that the code reads with a folder', () => {
    const ofFolder = Object.entries(declared).filter(([, { scope }]) => scope === 'resource');
    assert.deepEqual(ofFolder.map(([name]) => name).sort(), FOLDER_SETTINGS.map((name) => `cacheline.${name}`).sort());
  });

  for (const [name, spec] of specs) {
    it(`${name} has the declared type, default and bounds`, () => {
      const { type, default: fallback, enum: values, minimum, maximum } = declared[`cacheline.${name}`] as Declared;
      assert.deepEqual(
        { type, default: fallback, values, minimum, maximum },
        { type: spec.type, default: spec.default, values: spec.values, minimum: spec.minimum, maximum: spec.maximum },
      );
      assert.deepEqual(spec.parse(fallback), { value: spec.default, problems: [] });
      for (const value of values ?? []) assert.deepEqual(spec.parse(value), { value, problems: [] });
      for (const bound of [minimum, maximum]) if (bound !== undefined) assert.deepEqual(spec.parse(bound).problems, []);
    });

    it(`${name} replaces what does not fit and says so`, () => {
      const wrong = spec.type === 'string' ? 5 : 'nonsense';
      const { value, problems } = spec.parse(wrong);
      assert.deepEqual(value, spec.default);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', new RegExp(`cacheline\\.${name}`));
    });
  }

  it('are documented', async () => {
    assert.equal(readFileSync(settingsFile, 'utf8'), await settingsReference(), 'run "npm run settings" and read the diff');
  });

  it('frequency is a whole number within its bounds', () => {
    for (const wrong of [0, -1, 10001, 2.5, NaN]) assert.equal(SETTINGS.frequency.parse(wrong).value, 499);
  });

  it('sourceMap keeps the entries that have a path on both sides', () => {
    const { value, problems } = SETTINGS.sourceMap.parse({ '/build': '${workspaceFolder}', '/x': 5, '': '/y', '/z': '' });
    assert.deepEqual(value, { '/build': '${workspaceFolder}' });
    assert.equal(problems.length, 3);
    assert.match(problems.join(), /"\/x"/);
    assert.deepEqual(SETTINGS.sourceMap.parse(['/a']).value, {});
  });
});

describe('contributions', () => {
  it('recordings open in the recording editor, everything else as before', () => {
    const [editor] = contributes.customEditors;
    assert.equal(editor?.viewType, 'cacheline.recording');
    assert.deepEqual(
      editor.selector.map(({ filenamePattern }) => filenamePattern),
      ['perf.data', 'perf.data.old', '*.perf.data', '**/*.cacheline/meta.json'],
    );
  });

  it('launch entries, tasks and debug configurations say the same of a recording', () => {
    const [task] = contributes.taskDefinitions;
    const [debug] = contributes.debuggers;
    assert.ok(task && debug);
    assert.equal(task.type, 'cacheline');
    assert.equal(debug.type, 'cacheline');
    const entry = declared['cacheline.launch']?.items?.properties ?? {};
    const { name, ...launch } = entry;
    assert.ok(name !== undefined && Object.keys(launch).length >= 9);
    assert.deepEqual(Object.keys(task.properties), Object.keys(launch));
    assert.deepEqual(Object.keys(debug.configurationAttributes.launch.properties), Object.keys(launch));
    const attach = Object.keys(debug.configurationAttributes.attach.properties);
    assert.deepEqual(attach, ['pid', 'duration', 'frequency', 'collector', 'confirm', 'watch', 'paused']);
    for (const choice of attach.slice(1)) assert.ok(choice in launch, choice);
  });

  const source = ['extension/main.ts'].map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n');

  it('every command is registered and every registered command declared', () => {
    const registered = [...source.matchAll(/registerCommand\('([^']+)'/g)].map(([, name]) => name);
    const rows = Object.values(ROW_COMMANDS);
    assert.deepEqual(contributes.commands.map(({ command }) => command).sort(), [...registered, ...rows].sort());
  });

  it('every step of heat has a colour and icons', () => {
    const steps = [1, 2, 3, 4, 5];
    assert.deepEqual(
      contributes.colors.map(({ id }) => id),
      steps.map((step) => `cacheline.heat${step}`),
    );
    for (const step of [...steps, 'better', 'worse'])
      for (const theme of ['light', 'dark']) assert.ok(existsSync(path.join(root, `media/heat-${step}-${theme}.svg`)));
  });
});
