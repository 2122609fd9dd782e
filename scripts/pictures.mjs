// All pictures of the documents, anew: what commands print on a terminal of 80 columns, from real recordings of the examples, their drawings,
// and the window of the newest VS Code.
//   node scripts/pictures.mjs [FILE…]     writes docs/images/*, or these files of it, and says how long each took
import { copyFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from './build.mjs';
import { buildExamples, examplesBin, examplesWorkspace } from './lib/examples.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { prepare, versions } from './vscode-host.mjs';

const images = path.join(root, 'docs/images');
const cacheline = path.join(root, 'bin/cacheline');
const example = (name) => path.relative(root, path.join(examplesBin, name));

/** A file, its command, and how many lines of what it prints are shown at most. */
const terminalPictures = [
  { file: 'report-by-function.svg', command: ['report', 'mixed', '--by', 'function', '--no-pager'], lines: 45 },
  { file: 'threads.svg', command: ['threads', 'mixed', '--no-pager'], lines: 45 },
  { file: 'workset.svg', command: ['workset', 'mixed', '--no-pager'], lines: 45 },
  { file: 'diff.svg', command: ['diff', 'before', 'after', '--no-pager'], lines: 45 },
];

const recordings = { mixed: 'descriptor-contended', before: 'reader_writer-contended', after: 'reader_writer-fixed' };

/** Sizes in pixels. */
const [fontSize, lineHeight, charWidth, margin] = [13, 17, 7.8, 12];
const [ground, ink] = ['#1e1e1e', '#d4d4d4'];
const colours = { 31: '#f48771', 32: '#89d185', 33: '#e2c08d', 36: '#7fd4e8' };

/** Control sequences of the terminal as attributes of SVG: bold, faint and four colours (terminal-text.ts). */
function styledParts(line) {
  const style = { bold: false, faint: false, colour: ink };
  const parts = [];
  for (const [, codes, text] of line.matchAll(/(?:\u001b\[([\d;]*)m)?([^\u001b]*)/g)) {
    for (const code of codes === undefined ? [] : codes.split(';').map(Number)) {
      if (code === 0) Object.assign(style, { bold: false, faint: false, colour: ink });
      else if (code === 1) style.bold = true;
      else if (code === 2) style.faint = true;
      else if (code === 22) Object.assign(style, { bold: false, faint: false });
      else style.colour = colours[code] ?? ink;
    }
    if (text !== '') parts.push({ text, ...style });
  }
  return parts;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** @param text what the command printed, its lines at most 80 columns wide */
function drawing(command, text, most) {
  const all = text.replaceAll('\r', '').trimEnd().split('\n');
  const shown = all.length > most ? [...all.slice(0, most), '...'] : all;
  const lines = [`\u001b[2m$ cacheline ${command.filter((word) => word !== '--no-pager').join(' ')}\u001b[22m`, ...shown];
  const rows = lines.map((line, i) => {
    const spans = styledParts(line).map(
      ({ text: part, bold, faint, colour }) =>
        `<tspan fill="${colour}"${bold ? ' font-weight="bold"' : ''}${faint ? ' opacity="0.65"' : ''}>${escaped(part)}</tspan>`,
    );
    return `<text x="${margin}" y="${margin + (i + 1) * lineHeight - 4}" xml:space="preserve">${spans.join('')}</text>`;
  });
  const [width, height] = [Math.ceil(80 * charWidth) + 2 * margin, lines.length * lineHeight + 2 * margin];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="monospace" font-size="${fontSize}">`,
    `<rect width="${width}" height="${height}" rx="6" fill="${ground}"/>`,
    ...rows,
    '</svg>\n',
  ].join('\n');
}

/**
 * Screenshots that tests of test/e2e take on their way, by their names in test-results/VERSION; `steps` are the tests that it takes. The
 * pictures of all tabs in all themes and sizes, which are not in docs/images, stay there as 16-look-*.
 */
const windowPictures = {
  'panel.png': '6-panel',
  'gutter.png': '4-gutter',
  'hover.png': '5-hover-definition',
  'card.png': '7-layout-card',
  'filter.png': '6-filter-completion',
  'detail.png': '6-detail',
  'tab-data.png': '6-tab-data',
  'tab-functions.png': '6-tab-functions',
  'tab-threads.png': '6-tab-threads',
  'tab-source.png': '6-tab-source',
  'tab-timeline.png': '6-tab-timeline',
  'contended-data.png': '7-contended-data',
  'advice.png': '8-preview',
  'compare.png': '9-compare',
  'attach.png': '13-choose-process',
  'machine.png': '14-machine-tested',
};
const steps = new RegExp(
  [
    ...['profiles a program', 'marks the contended', 'tells in the hover who', 'lists the line in the panel', 'filters the table'],
    ...[
      'with a row of the panel',
      'with the tabs of the panel',
      'looks right',
      'with a struct that two threads use',
      'with a change that ends the waiting',
    ],
    ...['with two recordings', 'with a process that runs', 'the page of this machine says what'],
  ].join('|'),
);

async function takeTerminalPictures(pictures) {
  // In the folder of the sources, whose paths are then short, and those of no machine.
  const recorded = Object.keys(recordings).map((name) => path.join(root, name));
  try {
    for (const [name, program] of Object.entries(recordings))
      await run(cacheline, ['record', '--heap', '-o', name, '--', example(program)], { capture: true, cwd: root, timeoutSeconds: 60 });
    for (const { file, command, lines } of pictures) {
      // A terminal of its own, for colours and its width; the words of the commands hold nothing that a shell takes for itself.
      const onTerminal = `stty cols 80; ${[cacheline, ...command].join(' ')}`;
      const env = { ...process.env, TERM: 'xterm-256color', NO_COLOR: undefined };
      const options = { capture: true, cwd: root, env, timeoutSeconds: 60 };
      const { stdout, seconds } = await run('script', ['-qec', onTerminal, '/dev/null'], options);
      if (stdout.trim() === '') throw new ScriptError(`cacheline ${command.join(' ')} printed nothing`);
      await writeFile(path.join(images, file), drawing(command, stdout, lines));
      tell(file, seconds);
    }
  } finally {
    for (const folder of recorded) await rm(folder, { recursive: true, force: true });
  }
}

/** What `trace --svg` draws of a real run, and `where --svg` of the made-up machine with two nodes that its test has. */
const drawings = {
  'trace.svg': async (file) => {
    const args = ['trace', 'packet', '--svg', file, '--', example('two_stage_queue-traced')];
    return (await run(cacheline, args, { capture: true, cwd: root, timeoutSeconds: 60 })).seconds;
  },
  'where.svg': async (file) => {
    await copyFile(path.join(root, 'test/unit/goldens/where-two-nodes.svg'), file);
    return 0;
  },
};

async function takeWindowPictures(files) {
  const version = versions.at(-1);
  await run(process.execPath, ['scripts/package.mjs', '--any-glibc'], { timeoutSeconds: 300 });
  await prepare(version);
  const workspace = await examplesWorkspace();
  try {
    const args = [
      'node_modules/mocha/bin/mocha.js',
      '--config',
      'test/e2e/.mocharc.json',
      '--grep',
      steps.source,
      'test/e2e/editor.test.ts',
    ];
    const env = { ...process.env, CACHELINE_VSCODE: version.name, CACHELINE_WORKSPACE: workspace.folder, CACHELINE_LOOKS: 'all' };
    const { seconds } = await run(process.execPath, args, { env, timeoutSeconds: 400 });
    for (const file of files) {
      await copyFile(path.join(root, 'test-results', version.name, `${windowPictures[file]}.png`), path.join(images, file));
      tell(file, seconds / files.length);
    }
  } finally {
    await workspace.remove();
  }
}

const tell = (file, seconds) => say(`pictures: ${file} in ${seconds.toFixed(1)} s`);

async function takePictures(names) {
  const all = [...terminalPictures.map(({ file }) => file), ...Object.keys(drawings), ...Object.keys(windowPictures)];
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new ScriptError(`no picture ${unknown.join(', ')}; there are ${all.join(', ')}`);
  const chosen = names.length === 0 ? all : names;
  await build();
  await buildExamples();
  const printed = terminalPictures.filter(({ file }) => chosen.includes(file));
  if (printed.length > 0) await takeTerminalPictures(printed);
  for (const file of chosen.filter((name) => name in drawings)) tell(file, await drawings[file](path.join(images, file)));
  const shown = chosen.filter((name) => name in windowPictures);
  if (shown.length > 0) await takeWindowPictures(shown);
  return 0;
}

if (isMain(import.meta.url)) void main(takePictures);
