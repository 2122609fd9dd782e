// The house rules that a machine can check: which room may use which, and what every file must or must not say.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { folderPrograms, liveProgram } from '../../scripts/lib/gtest.mjs';

const root = path.resolve(__dirname, '../..');

/** The rooms a room may use, besides itself. */
const typescriptRooms: Record<string, string[]> = {
  'extension/protocol': [],
  'extension/engine': ['extension/protocol'],
  'extension/session': ['extension/engine', 'extension/protocol'],
  'extension/cli': ['extension/session', 'extension/engine', 'extension/protocol'],
  'extension/features': ['extension/session', 'extension/engine', 'extension/protocol'],
  'webviews/page': ['extension/protocol'],
  'webviews/panel': ['webviews/page', 'extension/protocol'],
  'webviews/machine': ['webviews/page', 'extension/protocol'],
  'webviews/compare': ['webviews/page', 'extension/protocol'],
};

const nativeRooms: Record<string, string[]> = {
  base: [],
  text: ['base'],
  perfdata: ['base'],
  decode: ['base'],
  spe: ['base'],
  symbols: ['base'],
  types: ['base', 'symbols'],
  layouts: ['base', 'symbols', 'types'],
  inference: ['base', 'symbols', 'decode', 'types', 'layouts'],
  heap: ['base'],
  calibration: ['base'],
  machine: ['base'],
  record: ['base', 'perfdata', 'spe', 'symbols', 'heap', 'calibration', 'machine'],
  analysis: ['base', 'perfdata', 'symbols', 'decode', 'types', 'layouts', 'inference', 'heap'],
  sharing: ['base', 'perfdata', 'spe', 'symbols', 'decode', 'types', 'layouts', 'inference', 'heap', 'analysis', 'text'],
  c2c: ['base', 'analysis', 'text'],
  profile: ['base', 'perfdata', 'symbols', 'decode', 'types', 'layouts', 'inference', 'heap', 'analysis', 'sharing', 'text'],
  tables: ['base', 'perfdata', 'symbols', 'types', 'layouts', 'analysis', 'profile'],
  workset: ['base', 'perfdata', 'symbols', 'types', 'layouts', 'analysis', 'profile', 'tables'],
  advice: ['base', 'symbols', 'decode', 'types', 'layouts', 'analysis', 'calibration'],
  scheduling: ['base', 'perfdata', 'symbols', 'types', 'layouts', 'inference', 'analysis'],
  traces: ['base', 'perfdata', 'symbols', 'decode', 'types', 'layouts', 'inference', 'heap', 'analysis'],
  addon: [
    'advice',
    'scheduling',
    'traces',
    'base',
    'perfdata',
    'symbols',
    'decode',
    'types',
    'layouts',
    'inference',
    'heap',
    'calibration',
    'machine',
    'record',
    'analysis',
    'sharing',
    'c2c',
    'profile',
    'tables',
    'workset',
  ],
};

function filesUnder(folder: string, pattern: RegExp): string[] {
  const absolute = path.join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => !/(^|\/)(node_modules|goldens)\//.test(file))
    .sort();
}

const text = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const isIn = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);

/** What a TypeScript file imports: package names, and files of the repository relative to its root. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(text(file), true, true);
  return importedFiles.map(({ fileName }) => (fileName.startsWith('.') ? path.join(path.dirname(file), fileName) : fileName));
}

describe('architecture', () => {
  const typescriptFiles = [...filesUnder('extension', /\.tsx?$/), ...filesUnder('webviews', /\.tsx?$/)];
  const nativeFiles = filesUnder('native', /\.(h|c|cpp)$/);

  it('finds the sources it speaks of', () => {
    for (const room of Object.keys(typescriptRooms)) assert.ok(filesUnder(room, /\.tsx?$/).length > 0, `${room} is empty`);
    for (const room of Object.keys(nativeRooms)) assert.ok(filesUnder(`native/${room}`, /\.(h|c|cpp)$/).length > 0, `${room} is empty`);
  });

  it('TypeScript rooms use only the rooms below them', () => {
    const wrong: string[] = [];
    for (const file of typescriptFiles) {
      const room = Object.keys(typescriptRooms).find((name) => isIn(file, name));
      if (room === undefined) continue;
      const allowed = [room, ...typescriptRooms[room]!];
      for (const used of importsOf(file))
        if (/^(extension|webviews|test|native|scripts)\//.test(used) && !allowed.some((name) => isIn(used, name)))
          wrong.push(`${file} imports ${used}`);
    }
    assert.deepEqual(wrong, []);
  });

  it('only features and main.ts import vscode', () => {
    const wrong = typescriptFiles.filter(
      (file) => importsOf(file).includes('vscode') && !isIn(file, 'extension/features') && file !== 'extension/main.ts',
    );
    assert.deepEqual(wrong, []);
  });

  // Their texts have names of programs and recordings in them, which the editor would render as links.
  it('all notifications are made in one file', () => {
    const ways = /\b(show(Information|Warning|Error)Message|withProgress)\b/;
    assert.deepEqual(
      typescriptFiles.filter((file) => ways.test(text(file))),
      ['extension/features/notify.ts'],
    );
    const shown = text('extension/features/notify.ts').matchAll(/(?:\.show\w+Message\(|\b(?:title|message): (?!string))(\w*)/g);
    assert.deepEqual(new Set([...shown].map(([, passedThrough]) => passedThrough)), new Set(['notificationText']));
  });

  it('every TypeScript file belongs to a room', () => {
    const wrong = typescriptFiles.filter(
      (file) => file !== 'extension/main.ts' && !Object.keys(typescriptRooms).some((room) => isIn(file, room)),
    );
    assert.deepEqual(wrong, []);
  });

  it('pages follow the direction of the text, and nothing in them moves', () => {
    const wrong = filesUnder('webviews', /\.css$/).flatMap((file) =>
      [
        ...text(file).matchAll(
          /^.*(?:(?:margin|padding|border)-(?:left|right):|text-align: (?:left|right)|\b(?:animation|transition)).*$/gm,
        ),
      ].map(([line]) => `${file}: ${line.trim()}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('native rooms include only the rooms below them', () => {
    const wrong: string[] = [];
    for (const file of nativeFiles) {
      const room = file.split('/')[1]!;
      const allowed = nativeRooms[room];
      if (allowed === undefined) continue; // tests, fuzzers and benchmarks may look everywhere
      for (const [, used] of text(file).matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) {
        const usedRoom = used!.split('/')[0]!;
        if (!used!.includes('/')) wrong.push(`${file} includes ${used!} without its folder`);
        else if (usedRoom !== room && usedRoom in nativeRooms && !allowed.includes(usedRoom)) wrong.push(`${file} includes ${used!}`);
      }
    }
    assert.deepEqual(wrong, []);
  });
});

describe('house rules', () => {
  const sources = ['extension', 'webviews', 'native', 'test', 'scripts', 'examples'].flatMap((folder) =>
    filesUnder(folder, /\.(tsx?|mjs|cjs|h|c|cc|cpp)$/),
  );

  it('every source file starts with a comment that says what it is', () => {
    assert.deepEqual(
      sources.filter((file) => !/^(#!.*\n)?\s*(\/\/|\/\*)/.test(text(file))),
      [],
    );
  });

  it('no source file is marked as unfinished', () => {
    const marks = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b`);
    assert.deepEqual(
      sources.filter((file) => marks.test(text(file))),
      [],
    );
  });

  it('every folder of C++ tests is run', () => {
    const folders = filesUnder('native/tests', /\.cpp$/).flatMap((file) => (/TEST(_[FP])?\(/.test(text(file)) ? file.split('/')[2]! : []));
    assert.deepEqual([...folderPrograms, liveProgram].sort(), [...new Set(folders)]);
  });

  // Linkers merge their members without a word.
  it('no two classes of one namespace share a name', () => {
    const homes = new Map<string, Set<string>>();
    for (const file of sources.filter((name) => /^native\/.*\.(h|cpp)$/.test(name))) {
      const around: string[] = [];
      for (const line of text(file).split('\n')) {
        const [, namespace] = /^namespace ?([\w:]*) ?\{/.exec(line) ?? [];
        const [, name] = /^(?:class|struct|union|enum(?: class)?)(?: alignas\(.*?\)| \[\[.*?\]\])* ([\w:]+)[^;]*\{/.exec(line) ?? [];
        if (namespace !== undefined) around.push(namespace === '' ? file : namespace);
        else if (line.startsWith('}  // namespace')) around.pop();
        else if (name !== undefined) {
          const full = [...around, name].join('::');
          homes.set(full, (homes.get(full) ?? new Set()).add(file));
        }
      }
    }
    assert.ok(homes.size > 300, `only ${homes.size} classes found`);
    assert.deepEqual(
      [...homes].filter(([, files]) => files.size > 1).map(([name, files]) => `${name}: ${[...files].join(', ')}`),
      [],
    );
  });

  it('files can be read in one sitting', () => {
    const long = sources.map((file) => ({ file, lines: text(file).split('\n').length })).filter(({ lines }) => lines > 500);
    assert.deepEqual(long, []);
  });

  it('prose is no wider than code', () => {
    const documents = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', ...filesUnder('docs', /\.md$/)];
    const wide = documents.flatMap((file) =>
      text(file)
        .replace(/^```[^]*?^```/gm, '')
        .split('\n')
        .filter((line) => line.length > 140 && !/^(\||!\[)/.test(line)),
    );
    assert.deepEqual(wide, []);
  });

  it('the lock file names no download addresses', () => {
    assert.doesNotMatch(text('package-lock.json'), /"resolved":/);
  });
});

describe('package.json', () => {
  interface Manifest {
    dependencies?: Record<string, string>;
    devDependencies: Record<string, string>;
    contributes: { configuration?: { properties?: Record<string, unknown> } };
  }
  const manifest = JSON.parse(text('package.json')) as Manifest;

  it('has no dependencies at run time: everything is bundled', () => {
    assert.deepEqual(manifest.dependencies ?? {}, {});
  });

  it('fixes the version of every package', () => {
    assert.deepEqual(
      Object.entries(manifest.devDependencies).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
      [],
    );
  });
});
