// The texts that a translation has: the first arguments of vscode.l10n.t(), and of t() of protocol/l10n.ts. plural() puts a number before
// its words: "{0} line" and "{0} lines".
//   node scripts/l10n.mjs     writes l10n/bundle.l10n.json; a translation is a file bundle.l10n.LANGUAGE.json beside it
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { isMain, main, root, say, ScriptError } from './lib/run.mjs';

export const bundleFile = path.join(root, 'l10n/bundle.l10n.json');

/** Of these no text is the editor's: the command line speaks English. */
const WITHOUT_TEXTS = /^extension\/cli\//;

/** @returns the text of l10n/bundle.l10n.json: each text with itself, sorted. Throws ScriptError where one is no literal. */
export async function l10nBundle() {
  const lists = ['extension', 'webviews'].map(async (folder) =>
    (await readdir(path.join(root, folder), { recursive: true })).map((name) => path.join(folder, name)),
  );
  const names = (await Promise.all(lists)).flat().filter((name) => /\.tsx?$/.test(name) && !WITHOUT_TEXTS.test(name));
  const sources = names.map(async (name) => textsOf(name, await readFile(path.join(root, name), 'utf8')));
  const texts = new Set((await Promise.all(sources)).flat());
  return `${JSON.stringify(Object.fromEntries([...texts].sort().map((text) => [text, text])), null, 2)}\n`;
}

/** @throws ScriptError */
export function textsOf(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const texts = [];
  const visit = (node) => {
    if (ts.isFunctionDeclaration(node) && node.name?.text === 'plural') return; // its callers have the words
    if (ts.isCallExpression(node)) texts.push(...textsOfCall(node, tree, file));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return texts;
}

function textsOfCall(node, tree, file) {
  const name = node.expression.getText(tree);
  if (name === 'vscode.l10n.t' || name === 't') {
    const text = literal(node.arguments[0]);
    if (text !== undefined) return [text];
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
    throw new ScriptError(`${file}:${line + 1}: the text of ${name}() is a literal, with {0} for what is put into it.`);
  }
  if (name !== 'plural') return [];
  const [, one, many] = node.arguments;
  const words = literals(one);
  return [...words, ...(many === undefined ? words.map((word) => `${word}s`) : literals(many))].map((word) => `{0} ${word}`);
}

/** Of a literal, or of several that "+" joins; undefined for all else. */
function literal(node) {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isBinaryExpression(node)) return undefined;
  const [left, right] = [literal(node.left), literal(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** One for each way of a choice. Words that are put together otherwise have no translation. */
function literals(node) {
  if (ts.isConditionalExpression(node)) return [...literals(node.whenTrue), ...literals(node.whenFalse)];
  const text = literal(node);
  return text === undefined ? [] : [text];
}

async function write() {
  await mkdir(path.dirname(bundleFile), { recursive: true });
  await writeFile(bundleFile, await l10nBundle());
  say(path.relative(root, bundleFile));
}

if (isMain(import.meta.url)) void main(write);
