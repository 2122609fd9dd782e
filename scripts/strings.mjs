// Every text that a person can read, with its place:
//   npm run strings     prints file:line, what it is, and the text, with tabs between
// TypeScript: string literals and templates (what is put into one shows as {}; parts that "+" joins are one text). C++: string literals, with
// those that follow each other as one. A literal counts as read where a word of it has a space beside it, since identifiers, keys, file
// names and format parts have none; or where it stands at a place for texts (TEXT_PLACES, JSX). Left out by their place: what imports, types,
// keys, case labels and comparisons name, #include and static_assert, and classes of CSS. The manifest: all of
// package.nls.json. Documents: headings and, of README.md, all prose.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { isMain, main, root } from './lib/run.mjs';

const WORDS = /\p{L}{2}\S* | \S*\p{L}{2}/u;
/** Properties and JSX attributes whose single words are read, too. */
const TEXT_PLACES = new Set([
  ...['alt', 'aria-label', 'brief', 'category', 'description', 'detail', 'displayName', 'help', 'label', 'message', 'placeHolder'],
  ...['placeholder', 'prompt', 'title', 'tooltip'],
]);
const FOLDERS = { extension: /\.ts$/, webviews: /\.tsx?$/, native: /\.(h|cpp)$/, docs: /\.md$/ };
const NOT_READ = /^native\/(tests|fuzz|bench)\//;

const { SyntaxKind } = ts;

/**
 * Texts of a TypeScript source.
 * @returns {{ line: number, kind: string, text: string }[]} lines count from 1
 */
export function typescriptStrings(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const found = [];
  const note = (node, kind, text) =>
    found.push({ line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1, kind, text: oneLine(text) });
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isJsxText(node) && /\p{L}{2}/u.test(node.text)) note(node, 'jsx', node.text.trim());
    const text = textOf(node);
    if (text === undefined) {
      ts.forEachChild(node, visit);
      return;
    }
    if (isRead(node, text)) note(node, 'text', text);
    visitInside(node);
  };
  // Parts of a text are no texts, but what is put into it may have some.
  const visitInside = (node) => ts.forEachChild(node, (child) => (textOf(child) === undefined ? visit(child) : visitInside(child)));
  visit(tree);
  return found;
}

/** @returns the text of a literal, a template or parts joined by "+"; undefined for all else */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) return node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('');
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== SyntaxKind.PlusToken) return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined && right === undefined ? undefined : `${left ?? '{}'}${right ?? '{}'}`;
}

const COMPARISONS = new Set([SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken, SyntaxKind.InKeyword]);

function isRead(node, text) {
  const { parent } = node;
  if (ts.isCaseClause(parent) || ts.isElementAccessExpression(parent) || ts.isLiteralTypeNode(parent)) return false;
  if (ts.isBinaryExpression(parent) && COMPARISONS.has(parent.operatorToken.kind)) return false;
  if (parent.name === node && (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isEnumMember(parent))) return false;
  const attribute = ts.isJsxAttribute(parent)
    ? parent
    : ts.isJsxExpression(parent) && ts.isJsxAttribute(parent.parent)
      ? parent.parent
      : null;
  if (attribute !== null) return TEXT_PLACES.has(attribute.name.getText()) && /\p{L}{2}/u.test(text);
  const place = ts.isPropertyAssignment(parent) ? parent.name.getText().replaceAll(/['"]/g, '') : undefined;
  return WORDS.test(text) || (TEXT_PLACES.has(place) && /\p{L}{2}/u.test(text));
}

const CPP_TOKEN =
  /\/\/[^\n]*|\/\*[^]*?\*\/|^[ \t]*#[ \t]*include[^\n]*|'(?:\\.|[^'\\\n])+'|R"(?<fence>[^()\\ \n]*)\((?<raw>[^]*?)\)\k<fence>"|"(?<plain>(?:\\.|[^"\\\n])*)"|\bstatic_assert\b|[A-Za-z0-9_.']+|\S/gm;
const CPP_ESCAPES = { n: '\n', t: '\t', r: '\r', 0: '\0' };

/** Texts of a C++ source, as typescriptStrings(). */
export function cppStrings(source) {
  const found = [];
  let open = null;
  let asserting = false;
  for (const { 0: token, index, groups } of source.matchAll(CPP_TOKEN)) {
    if (/^(\/\/|\/\*)/.test(token)) continue;
    const literal = groups.raw ?? groups.plain?.replaceAll(/\\(x[0-9a-fA-F]+|.)/g, (_, escape) => CPP_ESCAPES[escape] ?? escape);
    if (literal !== undefined) {
      if (open === null) found.push((open = { line: lineAt(source, index), kind: asserting ? 'assert' : 'text', text: literal }));
      else open.text += literal;
      continue;
    }
    open = null;
    if (token === 'static_assert') asserting = true;
    else if (token === ';') asserting = false;
  }
  return found
    .filter(({ kind, text }) => kind === 'text' && WORDS.test(text))
    .map(({ line, kind, text }) => ({ line, kind, text: oneLine(text) }));
}

/** Texts of package.nls.json, which VS Code puts into package.json; as typescriptStrings(), their keys as what they are. */
export function manifestStrings(source) {
  const tree = ts.parseJsonText('package.nls.json', source);
  return tree.statements[0].expression.properties.map(({ name, initializer }) => ({
    line: lineAt(source, name.getStart(tree)),
    kind: name.text,
    text: oneLine(initializer.text),
  }));
}

/** Headings of a document, and where asked for its prose; as typescriptStrings(). */
export function documentStrings(source, { prose }) {
  let fenced = false;
  return source.split('\n').flatMap((text, index) => {
    if (text.startsWith('```')) fenced = !fenced;
    const heading = /^#+ /.test(text);
    if (fenced || text.startsWith('```') || !/\p{L}{2}/u.test(text) || !(heading || prose)) return [];
    return [{ line: index + 1, kind: heading ? 'heading' : 'prose', text: oneLine(text) }];
  });
}

/** Of all files of the project, sorted by file. */
export async function projectStrings() {
  const lists = await Promise.all(
    Object.entries(FOLDERS).map(async ([folder, pattern]) =>
      (await readdir(path.join(root, folder), { withFileTypes: true, recursive: true }))
        .filter((entry) => entry.isFile() && pattern.test(entry.name))
        .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
    ),
  );
  const files = ['README.md', 'package.nls.json', ...lists.flat().filter((file) => !NOT_READ.test(file))].sort();
  const found = [];
  for (const file of files) {
    const source = await readFile(path.join(root, file), 'utf8');
    for (const string of stringsOf(file, source)) found.push({ file, ...string });
  }
  return found;
}

function stringsOf(file, source) {
  if (file === 'package.nls.json') return manifestStrings(source);
  if (file.endsWith('.md')) return documentStrings(source, { prose: file === 'README.md' });
  return /\.tsx?$/.test(file) ? typescriptStrings(file, source) : cppStrings(source);
}

/** Control characters as JSON writes them: a line of the list is one text. */
function oneLine(text) {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\');
}

function lineAt(source, index) {
  return source.slice(0, index).split('\n').length;
}

async function print() {
  for (const { file, line, kind, text } of await projectStrings()) process.stdout.write(`${file}:${line}\t${kind}\t${text}\n`);
}

if (isMain(import.meta.url)) void main(print);
