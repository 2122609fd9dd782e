// The texts of extension/ that a translation has: the first arguments of vscode.l10n.t().
//   node scripts/l10n.mjs     writes l10n/bundle.l10n.json; a translation is a file bundle.l10n.LANGUAGE.json beside it
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { isMain, main, root, say, ScriptError } from './lib/run.mjs';

export const bundleFile = path.join(root, 'l10n/bundle.l10n.json');

/** @returns the text of l10n/bundle.l10n.json: each text with itself, sorted. Throws ScriptError where one is no literal. */
export async function l10nBundle() {
  const names = (await readdir(path.join(root, 'extension'), { recursive: true })).filter((name) => name.endsWith('.ts'));
  const sources = names.map(async (name) => textsOf(name, await readFile(path.join(root, 'extension', name), 'utf8')));
  const texts = new Set((await Promise.all(sources)).flat());
  return `${JSON.stringify(Object.fromEntries([...texts].sort().map((text) => [text, text])), null, 2)}\n`;
}

/** @throws ScriptError */
export function textsOf(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const texts = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'vscode.l10n.t') {
      const [text] = node.arguments;
      if (text === undefined || !ts.isStringLiteralLike(text)) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
        throw new ScriptError(`${file}:${line + 1}: the text of vscode.l10n.t() is a literal, with {0} for what is put into it.`);
      }
      texts.push(text.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return texts;
}

async function write() {
  await mkdir(path.dirname(bundleFile), { recursive: true });
  await writeFile(bundleFile, await l10nBundle());
  say(path.relative(root, bundleFile));
}

if (isMain(import.meta.url)) void main(write);
