// Programs below a folder: files that may be executed, found by a bounded walk that looks at no file's contents.
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface ExecutableSearch {
  /** Directory entries looked at, at most. */
  maxEntries: number;
  maxDepth: number;
  signal?: AbortSignal;
}

export interface ExecutableFile {
  path: string;
  modified: number;
}

const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'CMakeFiles']);
/** Executable by accident (checked out with the bit set, or on file systems that have no such bit), or no program to profile. */
const NO_PROGRAM = /\.(so(\.[\d.]+)?|o|a|sh|py|pl|rb|js|mjs|ts|c|cc|cpp|cxx|h|hpp|rs|go|txt|md|json|ya?ml|cmake|toml|html|css|svg|png)$/i;

/**
 * Breadth first, so that what is near the top is found within the bounds; hidden folders and links to folders are skipped.
 * Folders that cannot be read are passed over.
 * @returns the files, newest first, and whether the bounds cut the search short
 */
export async function findExecutables(
  folder: string,
  { maxEntries, maxDepth, signal }: ExecutableSearch,
): Promise<{ files: ExecutableFile[]; complete: boolean }> {
  const files: ExecutableFile[] = [];
  let level = [folder];
  let entries = 0;
  for (let depth = 0; level.length > 0 && depth < maxDepth; ++depth) {
    const next: string[] = [];
    for (const directory of level) {
      const names = await opendir(directory).catch(() => undefined);
      if (!names) continue;
      for await (const entry of names) {
        if (signal?.aborted) return { files: newestFirst(files), complete: false };
        if (++entries > maxEntries) return { files: newestFirst(files), complete: false };
        const path = join(directory, entry.name);
        if (entry.isDirectory()) {
          if (!entry.name.startsWith('.') && !SKIPPED.has(entry.name) && !entry.name.endsWith('.cacheline')) next.push(path);
        } else if ((entry.isFile() || entry.isSymbolicLink()) && !NO_PROGRAM.test(entry.name)) {
          const found = await stat(path).catch(() => undefined);
          if (found?.isFile() && (found.mode & 0o111) !== 0 && found.size > 0) files.push({ path, modified: found.mtimeMs });
        }
      }
    }
    level = next;
  }
  return { files: newestFirst(files), complete: level.length === 0 };
}

function newestFirst(files: ExecutableFile[]): ExecutableFile[] {
  return files.sort((a, b) => b.modified - a.modified);
}
