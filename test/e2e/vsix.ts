// Where the package is that `npm run package` makes.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '../..');

export function vsixFile(): string {
  const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { name: string; version: string };
  return path.join(root, `${name}-linux-x64-${version}.vsix`);
}
