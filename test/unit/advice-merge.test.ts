// Edits of several advices as one patch, sources on disk, and where advice is offered.
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSum } from '../../extension/protocol/profile';
import { editedAdvice, mergedEdits, UnreadableSource } from '../../extension/session/advice/advice-edits';
import { placesOf } from '../../extension/session/advice/advice-places';
import { builtAtOf, DiskSources, patchFolder } from '../../extension/session/advice/disk-sources';
import { ownLineChange } from '../../extension/session/advice/own-line';
import { patchOf } from '../../extension/session/advice/patch';
import { advice, adviceList, changes, membersChange, typeReference } from './advice-builder';
import { temporaryFolder } from './fixtures';
import { layoutOf, member } from './layout-builder';

const SOURCE = `struct first {
  long a;
  long b;
};

struct second {
  long a;
  long b;
};
`;

describe('edits of advice', () => {
  const folder = temporaryFolder();
  const file = (name: string, text = SOURCE): string => {
    const path = join(folder.path, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const apart = (name: string, path: string, line: number) =>
    advice({
      subject: { type: name, object: name, members: ['a', 'b'] },
      way: 'pad',
      change: membersChange(typeReference(name, path, line, ['a', 'b']), [[0], [1]]),
    });

  it('are made however little the program gains', async () => {
    const path = file('little.c');
    const one = apart('first', path, 1);
    const list = adviceList([{ ...one, predicted: { ...one.predicted, threadsOnly: true, mostSpeedup: 1.01 } }]);
    const { edited } = await editedAdvice(list, new DiskSources(new Map()), (files) => patchFolder(files, folder.path));
    assert.equal(edited[0]!.advice.edit.reason, null);
    assert.match(edited[0]!.advice.edit.patch ?? '', /_Alignas\(64\) long b;/);
  });

  it('become one patch of both, and each its own', async () => {
    const path = file('two.c');
    const list = adviceList([apart('first', path, 1), apart('second', path, 6)]);
    const { folder: where, edited } = await editedAdvice(list, new DiskSources(new Map()), (files) => patchFolder(files, folder.path));
    assert.equal(where, folder.path);
    assert.deepEqual(
      edited.map((one) => one.advice.edit.reason),
      [null, null],
    );
    for (const { advice: one } of edited) assert.equal(one.edit.patch?.match(/^\+ {2}_Alignas\(64\) long b;$/gm)?.length, 1);
    const { files, leftOut } = mergedEdits(edited);
    assert.deepEqual(leftOut, []);
    assert.equal(files.length, 1);
    assert.equal(files[0]?.after, SOURCE.replaceAll('  long b;', '  _Alignas(64) long b;'));
    assert.match(patchOf(files, folder.path), /^--- a\/two\.c\n\+\+\+ b\/two\.c\n/);
  });

  it('of one text are not both made, and the same ones once', async () => {
    const path = file('same.c');
    const other = apart('first', path, 1);
    const wider = { ...other, change: { ...other.change!, alignment: 128 } };
    const list = adviceList([other, wider, apart('first', path, 1)]);
    const { edited } = await editedAdvice(list, new DiskSources(new Map()), () => folder.path);
    const { files, leftOut } = mergedEdits(edited);
    assert.deepEqual(leftOut, [edited[1]!.advice]);
    assert.equal(files[0]?.after, SOURCE.replace('  long b;', '  _Alignas(64) long b;'));
  });

  it('of a definition that several binaries use are made once, and refused for one that was built from another text', async () => {
    const path = file('shared.h');
    const server = apart('first', path, 1);
    const ofBinary = (binary: string, names: readonly string[]) => {
      const groups = [names.slice(0, -1).map((_, at) => at), [names.length - 1]];
      const type = { ...typeReference('first', path, 1, names), binary };
      return { ...server, change: membersChange(type, groups) };
    };
    const list = adviceList([server, ofBinary('/code/build/client', ['a', 'b']), ofBinary('/code/build/old', ['a', 'x', 'b'])]);
    const { edited } = await editedAdvice(list, new DiskSources(new Map()), () => folder.path);
    const [ofServer, ofClient, ofOld] = edited.map((one) => one.advice.edit);
    assert.match(ofServer?.patch ?? '', /^\+ {2}__attribute__\(\(aligned\(64\)\)\) long b;$/m);
    assert.equal(ofClient?.patch, ofServer?.patch);
    assert.equal(ofOld?.patch, null);
    assert.match(ofOld.reason ?? '', /shared\.h:\d+ .*\.$/);
    const { files, leftOut } = mergedEdits(edited);
    assert.deepEqual(leftOut, []);
    assert.equal(files[0]?.after, SOURCE.replace('  long b;', '  __attribute__((aligned(64))) long b;'));
  });

  it('are refused with a reason where the source is gone, no file, not readable as text, too new, or nothing changes', async () => {
    const fresh = file('fresh.c');
    const built = new Map([['/code/build/server', 1000]]);
    mkdirSync(join(folder.path, 'folder.c'));
    const list = adviceList([
      apart('first', join(folder.path, 'gone.c'), 1),
      apart('first', join(folder.path, 'folder.c'), 1),
      apart('first', file('bytes.c', SOURCE.replace('struct', '\ufffd')), 1),
      apart('first', fresh, 1),
      advice({ change: null, way: 'stride' }),
    ]);
    const { folder: where, edited } = await editedAdvice(list, new DiskSources(built), () => assert.fail('nothing is edited'));
    assert.equal(where, null);
    for (const [at, wanted] of [/gone\.c/, /folder\.c is not a file/, /UTF-8/, /was changed after/, /make the change by hand/].entries()) {
      const { patch, reason } = edited[at]!.advice.edit;
      assert.equal(patch, null);
      assert.match(reason ?? '', wanted);
      assert.match(reason ?? '', /^[^\n]+\.$/);
    }
  });

  it('throw what is no reason', async () => {
    const sources = {
      read: () => Promise.reject(new TypeError('a bug')),
      isNewer: () => Promise.resolve(false),
      pathOf: (path: string) => path,
    };
    const list = adviceList([apart('first', '/a.c', 1)]);
    await assert.rejects(
      editedAdvice(list, sources, () => '/'),
      TypeError,
    );
    const unreadable = { ...sources, read: () => Promise.reject(new UnreadableSource('Not now.')) };
    assert.equal((await editedAdvice(list, unreadable, () => '/')).edited[0]?.advice.edit.reason, 'Not now.');
  });

  it('of a file that is reached by a link are of the file', async () => {
    const path = file('real/one.c');
    const link = join(folder.path, 'link.c');
    symlinkSync(path, link);
    const { edited } = await editedAdvice(adviceList([apart('first', link, 1)]), new DiskSources(new Map()), () => folder.path);
    assert.equal(edited[0]?.files[0]?.file, path);
  });
});

describe('sources on disk', () => {
  const folder = temporaryFolder();

  it('are newer than a binary by its recorded time, else by its own', async () => {
    const [source, binary] = ['a.c', 'a.out'].map((name) => join(folder.path, name));
    for (const path of [source!, binary!]) writeFileSync(path, '');
    utimesSync(source!, 2000, 2000);
    utimesSync(binary!, 3000, 3000);
    assert.equal(await new DiskSources(new Map()).isNewer(source!, binary!), false);
    assert.equal(await new DiskSources(new Map([[binary!, 1_000_000]])).isNewer(source!, binary!), true);
    assert.equal(await new DiskSources(new Map()).isNewer(source!, '/no/such/binary'), false, 'nothing is known');
  });

  it('know when binaries were built from meta.json, whatever is in it', async () => {
    const recording = join(folder.path, 'r.cacheline');
    mkdirSync(recording);
    const meta = join(recording, 'meta.json');
    const data = join(recording, 'perf.data');
    writeFileSync(data, '');
    assert.deepEqual(await builtAtOf(recording), new Map());
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '{"binaries":5}',
      '{"binaries":[null,5,{"path":7,"mtimeNs":"1"},{"path":"a","mtimeNs":1}]}',
    ]) {
      writeFileSync(meta, text);
      assert.deepEqual(await builtAtOf(recording), new Map(), text);
    }
    writeFileSync(meta, '{"binaries":[{"path":"/a","mtimeNs":"1500000000"}]}');
    assert.deepEqual(await builtAtOf(recording), new Map([['/a', 1500]]));
    assert.deepEqual(await builtAtOf(data), new Map([['/a', 1500]]));
  });

  it('have a patch for the folder of the reader, of their repository, or what they have in common', () => {
    const repository = join(folder.path, 'repository');
    mkdirSync(join(repository, '.git'), { recursive: true });
    const files = [join(repository, 'src/a.c'), join(repository, 'include/a.h')];
    assert.equal(patchFolder(files, repository), repository);
    assert.equal(patchFolder(files, folder.path), folder.path);
    assert.equal(patchFolder(files, '/usr'), repository);
    assert.equal(patchFolder([files[0]!], join(repository, 'src')), join(repository, 'src'));
    assert.equal(patchFolder(['/none/x/a.c', '/none/x/y/b.c'], '/usr'), '/none/x');
    assert.equal(patchFolder(['/none/xa/a.c', '/none/x/b.c'], '/none/x'), '/none');
  });
});

describe('places of advice', () => {
  const sum = (object: string, type: string, line: number, amount = 5): DataSum => ({
    data: { object, type, offset: 0, definition: null, field: 'a' },
    width: 8,
    amount,
    place: { file: '/code/src/code.c', line },
  });

  it('are the definition, the members that are waited for and the code that waits', () => {
    const descriptor = changes.advice[2]!;
    const data = [
      sum('descriptor', 'struct descriptor', 90),
      sum('other', 'long', 91),
      sum('x', 'descriptor[8]', 92),
      sum('descriptor', 'int', 93, 0),
    ];
    assert.deepEqual(
      placesOf(descriptor, data).map(({ file, line }) => `${file.split('/').at(-1) ?? ''}:${line}`),
      ['buffer.c:40', 'buffer.c:41', 'buffer.c:43', 'code.c:90', 'code.c:92'],
    );
  });

  it('of variables are those of all, and not of what else has their type', () => {
    const data = [sum('messages_read', 'atomic_long', 90), sum('rounds', 'atomic_long', 91)];
    assert.deepEqual(
      placesOf(changes.advice[3]!, data).map(({ line }) => line),
      [7, 8, 90],
    );
  });
});

describe('one member on a line of its own', () => {
  const at = { file: '/code/a.c', line: 3 };
  const layout = layoutOf('Worker', 24, [member('a', 'long', 0, 8), member('b', 'long', 8, 8), member('c', 'long', 16, 8)]);
  const starts = (name: string): boolean[] | undefined => {
    const change = ownLineChange(layout, name, '/bin/a', at);
    return change?.kind === 'members' ? change.order.map(({ startsLine }) => startsLine) : undefined;
  };

  it('starts one, and so does what follows it', () => {
    assert.deepEqual(starts('a'), [true, true, false]);
    assert.deepEqual(starts('b'), [false, true, true]);
    assert.deepEqual(starts('c'), [false, false, true]);
  });

  it('is not to be had of unions, bit-fields, members of members and what is not there', () => {
    assert.equal(starts('d'), undefined);
    assert.equal(starts(''), undefined);
    assert.equal(ownLineChange({ ...layout, kind: 'union' }, 'a', '', at), undefined);
    const [first, ...others] = layout.members;
    assert.equal(ownLineChange({ ...layout, members: [{ ...first!, bitSize: 3 }, ...others] }, 'a', '', at), undefined);
    assert.equal(ownLineChange({ ...layout, members: [{ ...first!, depth: 1 }, ...others] }, 'a', '', at), undefined);
    assert.equal(ownLineChange({ ...layout, cutOff: { members: 9 } }, 'a', '', at), undefined);
  });
});
