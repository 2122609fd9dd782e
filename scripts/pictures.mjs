// Pictures of what commands print on a terminal of 80 columns, from real recordings of the examples, for the documents.
//   node scripts/pictures.mjs     writes docs/images/*.svg
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from './build.mjs';
import { buildExamples, examplesBin } from './lib/examples.mjs';
import { isMain, main, root, run, ScriptError } from './lib/run.mjs';

const cacheline = path.join(root, 'bin/cacheline');
const example = (name) => path.relative(root, path.join(examplesBin, name));

/** A file, its command, and how many lines of what it prints are shown at most. */
const pictures = [
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

async function makePictures() {
  await build();
  await buildExamples();
  // In the folder of the sources, whose paths are then short, and those of no machine.
  const recorded = Object.keys(recordings).map((name) => path.join(root, name));
  try {
    for (const [name, program] of Object.entries(recordings))
      await run(cacheline, ['record', '--heap', '-o', name, '--', example(program)], { capture: true, cwd: root, timeoutSeconds: 60 });
    for (const { file, command, lines } of pictures) {
      // A terminal of its own, for colours and its width; the words of the commands hold nothing that a shell takes for itself.
      const onTerminal = `stty cols 80; ${[cacheline, ...command].join(' ')}`;
      const env = { ...process.env, TERM: 'xterm-256color', NO_COLOR: undefined };
      const { stdout } = await run('script', ['-qec', onTerminal, '/dev/null'], { capture: true, cwd: root, env, timeoutSeconds: 60 });
      if (stdout.trim() === '') throw new ScriptError(`cacheline ${command.join(' ')} printed nothing`);
      await writeFile(path.join(root, 'docs/images', file), drawing(command, stdout, lines));
    }
  } finally {
    for (const folder of recorded) await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

if (isMain(import.meta.url)) void main(makePictures);
