// The reference of the extension's settings, made of package.json with the texts of package.nls.json.
//   node scripts/settings.mjs     writes docs/settings.md
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isMain, main, root, say } from './lib/run.mjs';

export const settingsFile = path.join(root, 'docs/settings.md');

const WIDTH = 140;
const INTRODUCTION = 'The settings of the VS Code extension, as its settings editor describes them.';

/** @returns the text of docs/settings.md */
export async function settingsReference() {
  const texts = JSON.parse(await readFile(path.join(root, 'package.nls.json'), 'utf8'));
  const textOf = (_, value) => (typeof value === 'string' ? value.replace(/^%(.+)%$/, (_, key) => texts[key]) : value);
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'), textOf);
  const { properties } = manifest.contributes.configuration;
  const sections = Object.entries(properties).map(([name, setting]) => section(name, setting));
  return `${['# Settings', INTRODUCTION, ...sections].join('\n\n')}\n`;
}

function section(name, setting) {
  const { scope, default: fallback, enum: values, enumDescriptions, items } = setting;
  const perFolder = scope === 'resource' ? ' Each workspace folder can have its own value.' : '';
  const facts = `Type: ${typeOf(setting)}. Default: ${literal(fallback)}.${perFolder}`;
  const rows = [
    ...(values ?? []).map((value, i) => [literal(value), plain(enumDescriptions[i])]),
    ...Object.entries(items?.properties ?? {}).map(([field, declared]) => [
      `\`${field}\`${items.required.includes(field) ? ' (required)' : ''}`,
      `${described(declared)} *${typeOf(declared)}*`,
    ]),
  ];
  return [`## ${name}`, wrapped(described(setting)), facts, ...(rows.length > 0 ? [table(values ? 'value' : 'field', rows)] : [])].join(
    '\n\n',
  );
}

/** Lines of at most WIDTH columns. */
function wrapped(text) {
  const lines = [''];
  for (const word of text.split(' ')) {
    if (lines.at(-1).length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] += lines.at(-1) === '' ? word : ` ${word}`;
  }
  return lines.join('\n');
}

const table = (title, rows) => [`| ${title} | |`, '|---|---|', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
const literal = (value) => `\`${JSON.stringify(value)}\``;
const plain = (text) => text.replaceAll(/[\\`*_<|]/g, '\\$&');

/** A reference to another setting of ours (`#NAME#`) becomes a link. */
function described({ description, markdownDescription }) {
  if (markdownDescription === undefined) return plain(description);
  return markdownDescription.replaceAll(/`#([\w.]+)#`/g, (_, name) =>
    name.startsWith('cacheline.') ? `[\`${name}\`](#${name.replaceAll('.', '').toLowerCase()})` : `\`${name}\``,
  );
}

/** "whole number from 1 to 10000", "list of strings", "one of `"a"`, `"b"`". */
function typeOf({ type, enum: values, minimum, exclusiveMinimum, maximum, multipleOf, items, additionalProperties }) {
  if (values) return `one of ${values.map(literal).join(', ')}`;
  if (type === 'array') return `list of ${items.type}s`;
  if (type === 'object') return `object with ${additionalProperties.type}s`;
  const bounds = [
    ...(minimum === undefined ? [] : [` from ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [` above ${exclusiveMinimum}`]),
    ...(maximum === undefined ? [] : [` to ${maximum}`]),
  ];
  return `${multipleOf === 1 ? 'whole ' : ''}${type}${bounds.join('')}`;
}

async function write() {
  await writeFile(settingsFile, await settingsReference());
  say(path.relative(root, settingsFile));
}

if (isMain(import.meta.url)) void main(write);
