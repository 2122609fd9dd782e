// THIRD_PARTY_NOTICES.md of the package: the licence of everything of others that is inside, found from what really went in:
// shared libraries, headers that the compiler read, npm packages that the bundler read.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildFolder } from '../build.mjs';
import { root, run, ScriptError } from './run.mjs';

/** Headers of the system's interface, and of tools; nothing of them is in the package. */
const systemPackages = /^(libc6-dev|linux-libc-dev|libgtest-dev|libgmock-dev|libbenchmark-dev|libgcc-\d+-dev|libcrypt-dev)$/;

/**
 * @param libraries paths of the shared libraries that are shipped
 * @param sources files that the bundler read, relative to the root
 * @returns {Promise<{text: string, names: string[]}>} the file's text and what it names
 */
export async function thirdPartyNotices(libraries, sources) {
  const headers = await headersRead();
  const system = [...libraries, ...headers.filter((file) => file.startsWith('/usr/'))];
  const debian = await debianPackages(system);
  const npm = npmPackages([...sources, ...headers]);
  const parts = await Promise.all([...debian.map(debianNotice), ...npm.map(npmNotice)]);
  const commonLicences = [...new Set(parts.flatMap(({ refersTo }) => refersTo))].sort();
  const text = [
    '# Third-party notices\n',
    'Cacheline Lens contains the following software of others. Shared libraries are in `dist/native/lib` and can be replaced there by',
    'other builds of the same version; the rest is compiled into the addon or the bundles. The texts are the licence files of the',
    'packages that were used.\n',
    ...parts.map(({ name, version, licence }) => `## ${name} ${version}\n\n${fenced(licence)}`),
    ...(await Promise.all(commonLicences.map(async (name) => `## Licence text: ${name}\n\n${fenced(await commonLicence(name))}`))),
  ].join('\n');
  return { text, names: parts.map(({ name, version }) => `${name} ${version}`) };
}

const fenced = (text) => `\`\`\`\`text\n${text.trim()}\n\`\`\`\`\n`;

const commonFolder = '/usr/share/common-licenses';
const commonLicence = (name) => readFile(path.join(commonFolder, name), 'utf8');

/** Files that the compiler read for the addon and its libraries, as ninja noted them. */
async function headersRead() {
  const { stdout } = await run('ninja', ['-C', buildFolder, '-t', 'deps'], { capture: true });
  const files = new Set();
  let ours = false;
  for (const line of stdout.split('\n'))
    if (/^\S.*: #deps /.test(line)) ours = !/^native\/(tests|bench|fuzz)\//.test(line);
    else if (ours && line.startsWith('    ')) files.add(path.resolve(buildFolder, line.trim()));
  return [...files];
}

/** The packages that these files belong to, one of each source package: its others carry the same copyright file. */
async function debianPackages(files) {
  // Packages say /lib or /usr/lib for the same place.
  const names = new Set(files.flatMap((file) => [file, file.replace(/^\/usr\/lib\//, '/lib/'), file.replace(/^\/lib\//, '/usr/lib/')]));
  const owners = await run('dpkg-query', ['-S', ...names], { capture: true, check: false });
  const binary = new Set(owners.stdout.split('\n').flatMap((line) => /^([^:\s]+)(?::\S+)?: /.exec(line)?.[1] ?? []));
  const wanted = [...binary].filter((name) => !systemPackages.test(name)).sort();
  const { stdout } = await run('dpkg-query', ['-W', '-f', '${source:Package} ${source:Version} ${Package}\\n', ...wanted], {
    capture: true,
  });
  const bySource = new Map();
  for (const line of stdout.trim().split('\n')) {
    const [source, version, name] = line.split(' ');
    if (!bySource.has(source)) bySource.set(source, { source, version, name });
  }
  return [...bySource.values()];
}

async function debianNotice({ source, version, name }) {
  const file = `/usr/share/doc/${name}/copyright`;
  if (!existsSync(file)) throw new ScriptError(`${file} is missing: the notices need it (a slimmed-down image drops it)`);
  const licence = await readFile(file, 'utf8');
  const refersTo = [...licence.matchAll(/common-licenses\/([A-Za-z0-9.+-]*[A-Za-z0-9])/g)].flatMap((match) => match[1] ?? []);
  return { name: `${source} (Debian package)`, version, licence, refersTo };
}

function npmPackages(files) {
  const names = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

async function npmNotice(name) {
  const folder = path.join(root, 'node_modules', name);
  const { version, license } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((entry) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(entry));
  if (file === undefined) throw new ScriptError(`the npm package ${name} has no licence file (it says: ${license})`);
  return { name: `${name} (npm package)`, version, licence: await readFile(path.join(folder, file), 'utf8'), refersTo: [] };
}
