// Recordings as rows of a list: their order, their words, and that what they say of themselves is not trusted.
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  editableName,
  foreignFiles,
  listRecordings,
  recordingWords,
  whyNoName,
  type ListedRecording,
} from '../../extension/session/record/recording-list';
import { temporaryFolder } from './fixtures';

const NOW = new Date(2026, 10, 26, 12, 0).getTime();
const EXAMPLE: ListedRecording = {
  path: '/srv/server.cacheline',
  command: ['/opt/bin/server', '--threads', '8'],
  time: new Date(2026, 10, 26, 8, 5).getTime(),
  collector: 'clock',
  bytes: 1_234_567,
  ended: true,
};

describe('list of recordings', () => {
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const warnings: string[] = [];
  const log = { warn: (text: string) => void warnings.push(text) };
  const make = (name: string, meta: string, data = 'x'.repeat(1000)): string => {
    mkdirSync(at(name));
    writeFileSync(at(name, 'perf.data'), data);
    writeFileSync(at(name, 'meta.json'), meta);
    return at(name);
  };
  const meta = (startedAt: string, more: object = {}): string =>
    JSON.stringify({ command: ['/bin/p', '-x'], collector: 'clock', startedAt, durationSeconds: 2, ...more });
  beforeEach(() => warnings.splice(0));

  it('has the newest first, with program, collector and the size of all files', async () => {
    const older = make('older.cacheline', meta('2026-01-01T00:00:00Z'));
    const text = meta('2026-02-01T00:00:00.5Z', { durationSeconds: 0 });
    const newer = make('newer.cacheline', text);
    writeFileSync(at('newer.cacheline', 'notes.txt'), 'not a part of it');
    writeFileSync(at('perf.data'), 'abc');
    utimesSync(at('perf.data'), 0, Date.UTC(2026, 0, 15) / 1000);
    const found = await listRecordings([older, newer, at('perf.data'), newer], log);
    assert.deepEqual(
      found.map(({ path }) => path),
      [newer, at('perf.data'), older],
    );
    assert.deepEqual(found[0], {
      path: newer,
      command: ['/bin/p', '-x'],
      collector: 'clock',
      time: Date.UTC(2026, 1, 1) + 500,
      bytes: 1000 + Buffer.byteLength(text),
      ended: false,
    });
    assert.deepEqual(found[1], { path: at('perf.data'), command: [], collector: '', time: Date.UTC(2026, 0, 15), bytes: 3, ended: true });
    assert.deepEqual(warnings, []);
  });

  it('leaves out what is not there, and folders without a recording', async () => {
    mkdirSync(at('empty.cacheline'));
    writeFileSync(at('file'), '');
    const paths = [at('empty.cacheline'), at('gone.cacheline'), at('file', 'below')];
    assert.deepEqual(await listRecordings(paths, log), []);
    assert.deepEqual(warnings, []);
  });

  it('lists what has a meta.json that cannot be used, as a recording that says nothing', async () => {
    const texts = ['', '{', 'null', '[]', '5', '{"command":"x","startedAt":"never","collector":{},"durationSeconds":"1"}'];
    const paths = texts.map((text, index) => make(`${index}.cacheline`, text));
    for (const { command, collector, ended, time } of await listRecordings(paths, log)) {
      assert.deepEqual([command, collector, ended], [[], '', true]);
      assert.ok(Number.isFinite(time));
    }
    assert.equal((await listRecordings(paths, log)).length, texts.length);
  });

  it('says which one cannot be looked at, and lists the others', async () => {
    const good = make('good.cacheline', meta('2026-01-01T00:00:00Z'));
    symlinkSync(at('loop.cacheline'), at('loop.cacheline'));
    assert.deepEqual(
      (await listRecordings([at('loop.cacheline'), good], log)).map(({ path }) => path),
      [good],
    );
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /loop\.cacheline is not listed: ELOOP/);
  });

  it('says when, by which collector and how large', () => {
    const { label, description, text } = recordingWords(EXAMPLE, NOW);
    assert.equal(label, 'server');
    assert.equal(description, '08:05 · clock · 1.2 MB');
    assert.equal(text, '/srv/server.cacheline\n/opt/bin/server --threads 8\n2026-11-26 08:05, clock, 1.2 MB');
    const tomorrow = recordingWords({ ...EXAMPLE, path: '/srv/server-2.cacheline' }, NOW + 86_400_000);
    assert.equal(tomorrow.label, 'server-2');
    assert.equal(tomorrow.description, '2026-11-26 08:05 · clock · 1.2 MB');
  });

  it('says the program where the name does not, and what has not ended', () => {
    const { description, text } = recordingWords({ ...EXAMPLE, path: '/srv/before.cacheline', ended: false }, NOW);
    assert.equal(description, '08:05 · server · clock · 1.2 MB · not ended');
    assert.match(text, /\nIt is being recorded, or its recorder died/);
    const bare = recordingWords({ ...EXAMPLE, path: '/srv/run/perf.data', command: [], collector: '' }, NOW);
    assert.deepEqual([bare.label, bare.description], ['run/perf.data', '08:05 · 1.2 MB']);
    assert.match(bare.text, /program unknown\n.* collector unknown/);
  });

  it('makes visible what names hide, and shortens them', () => {
    const evil = '\u202eevil\n\u001b[31m';
    const words = recordingWords(
      { ...EXAMPLE, path: `/w/${evil}.cacheline`, command: [evil, 'x'.repeat(5000)], collector: 'c'.repeat(500) + evil },
      NOW,
    );
    for (const text of [words.label, words.description, ...words.text.split('\n')]) {
      assert.doesNotMatch(text, /[\u202e\u001b]/);
      assert.ok(text.length < 700, text);
    }
    assert.equal(words.label, '\\u{202e}evil\\n\\x1b[31m');
    assert.equal(words.text.split('\n').length, 3, 'a name makes no line');
  });

  it('renames what stands before the suffix', () => {
    assert.deepEqual(editableName('/w/a.b.cacheline'), { stem: 'a.b', suffix: '.cacheline' });
    assert.deepEqual(editableName('/w/x.perf.data'), { stem: 'x', suffix: '.perf.data' });
    assert.deepEqual(editableName('/w/perf.data'), { stem: '', suffix: '.perf.data' });
    assert.deepEqual(editableName('/w/other'), { stem: 'other', suffix: '' });
    assert.deepEqual(editableName('/w/.cacheline'), { stem: '.cacheline', suffix: '' });
    for (const wrong of ['', '  ', 'a/b', '../x', '.', '..', 'a\0', 'a\n', '\u202ea']) assert.ok(whyNoName(wrong), wrong);
    for (const right of ['a', 'a b', 'é', '...']) assert.equal(whyNoName(right), undefined);
  });

  it('knows what is no part of a recording', async () => {
    const path = make('one.cacheline', '{}');
    writeFileSync(join(path, 'watch.jsonl'), '');
    assert.deepEqual(await foreignFiles(path), []);
    mkdirSync(join(path, 'src'));
    writeFileSync(join(path, 'notes.txt'), '');
    assert.deepEqual(await foreignFiles(path), ['notes.txt', 'src']);
    assert.deepEqual(await foreignFiles(join(path, 'perf.data')), []);
    symlinkSync(path, at('link.cacheline'));
    assert.deepEqual(await foreignFiles(at('link.cacheline')), [], 'of a link the link alone is deleted');
  });
});
