// How programs of each language are compiled with debug information, by each compiler and level; by the extension of their source.
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';

const optimizations = ['O0', 'O1', 'O2'];
const native = (compiler, standard) => ({
  compiler,
  levels: optimizations,
  command: (level, out, source, flags = []) => [compiler, `-std=${standard}`, `-${level}`, '-g', '-pthread', ...flags, '-o', out, source],
});

/** `command`: program and arguments; `flags` are passed on to the compilers of C and C++. */
export const languages = {
  '.c': [native('gcc', 'gnu11'), native('clang', 'gnu11')],
  '.cpp': [native('g++', 'c++20'), native('clang++', 'c++20')],
  '.rs': [
    {
      compiler: 'rustc',
      levels: optimizations,
      command: (level, out, source) => ['rustc', '-g', '-C', `opt-level=${level.slice(1)}`, '-o', out, source],
    },
  ],
  '.go': [
    {
      compiler: 'go',
      levels: ['O0', 'O2'],
      command: (level, out, source) => ['go', 'build', ...(level === 'O0' ? ['-gcflags=all=-N -l'] : []), '-o', out, source],
    },
  ],
};

/** Whether a command is in one of the folders of PATH. */
export async function isHere(command) {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const here = await access(path.join(folder, command), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (here) return true;
  }
  return false;
}
