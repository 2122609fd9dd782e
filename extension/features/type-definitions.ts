// Finds in the workspace's sources where the types of a profile are defined whose debug information does not say it: Rust's and Go's.
import { readFile, stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Report } from '../protocol/report';
import { placeTypes, withoutPlace } from '../session/layout/type-definitions';

const MAX_FILES = 2000;
const MAX_BYTES = 1024 * 1024;

/** Before the types' places are looked up. */
export async function findTypeDefinitions({ types }: Pick<Report, 'types'>): Promise<void> {
  if (!types?.some(withoutPlace)) return;
  const uris = await vscode.workspace.findFiles('**/*.{rs,go}', '**/{node_modules,.git,target,vendor}/**', MAX_FILES);
  const sources = new Map<string, string>();
  await Promise.all(
    uris.map(async ({ fsPath }) => {
      try {
        if ((await stat(fsPath)).size <= MAX_BYTES) sources.set(fsPath, await readFile(fsPath, 'utf8'));
      } catch {
        // removed or unreadable meanwhile: it defines nothing
      }
    }),
  );
  placeTypes(types, sources);
}
