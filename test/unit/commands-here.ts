// Programs that a test needs and a machine may not have: the test then says what to install, and counts as skipped.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const PACKAGES: Record<string, string> = { 'clang++': 'clang', 'g++': 'g++', objdump: 'binutils', pahole: 'dwarves' };

/** Skips the test where one of the programs is not in the PATH. */
export function needsCommands(test: Mocha.Context, names: readonly string[]): void {
  const missing = names.filter((name) => !isHere(name));
  if (missing.length === 0) return;
  console.error(
    `      skipped: ${missing.join(', ')} not found: apt-get install ${missing.map((name) => PACKAGES[name] ?? name).join(' ')}`,
  );
  test.skip();
}

function isHere(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
