// What the host tests share: the extension's API, the examples and their markers, waiting.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';

export const EXTENSION = 'cacheline-lens.cacheline-lens';

export async function activate(): Promise<CachelineApi> {
  const extension = vscode.extensions.getExtension<CachelineApi>(EXTENSION);
  assert.ok(extension, `${EXTENSION} is not installed`);
  return extension.activate();
}

export function workspaceFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'no workspace folder is open');
  return folder.uri.fsPath;
}

/** The compiled program of examples/NAME/VARIANT. */
export function program(name: string, variant: string): string {
  const folder = process.env['CACHELINE_EXAMPLES_BIN'];
  assert.ok(folder, 'CACHELINE_EXAMPLES_BIN does not name the folder of the examples');
  return path.join(folder, `${name}-${variant}`);
}

/** Writes a synthetic recording of `perf c2c record` with the program of the C++ tests. */
export function synthesize(file: string, options: readonly string[]): void {
  const root = vscode.extensions.getExtension(EXTENSION)?.extensionPath ?? '';
  const synth = path.join(root, 'build/release/native/tests/cacheline_synth');
  assert.ok(existsSync(synth), `${synth} is not built: npm run build -- --tests`);
  execFileSync(synth, ['intel', '-o', file, ...options]);
}

export function source(file: string): vscode.Uri {
  return vscode.Uri.file(path.join(workspaceFolder(), file));
}

/** 1-based lines with a marker comment `@KIND NAME`, by name. */
export function markers(uri: vscode.Uri, kind: 'contended' | 'variable'): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [index, line] of readFileSync(uri.fsPath, 'utf8').split('\n').entries()) {
    const name = new RegExp(`@${kind} (\\S+)`).exec(line)?.[1];
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), index + 1]);
  }
  assert.ok(found.size > 0, `${uri.fsPath} has no @${kind} markers`);
  return found;
}

/** Runs the command as a task or key binding does; the recording's path, or undefined where it failed. */
export async function profile(target: { program: string; args?: string[]; cwd?: string }): Promise<string | undefined> {
  return vscode.commands.executeCommand<string | undefined>('cacheline.profile', target);
}

export async function hoverTexts(uri: vscode.Uri, line: number, character = 4): Promise<string> {
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    uri,
    new vscode.Position(line - 1, character),
  );
  return hovers
    .flatMap(({ contents }) => contents)
    .flatMap((content) => (content instanceof vscode.MarkdownString ? [content.value] : []))
    .join('\n');
}

/** Polls until the check gives a value that is neither false nor undefined. */
export async function eventually<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  seconds = 30,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function closeEditors(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
}
