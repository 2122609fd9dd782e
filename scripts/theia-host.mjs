// Eclipse Theia for `npm run test:theia`: the second editor that takes our package. It comes from the npm registry and is kept in .cache.
//   node scripts/theia-host.mjs     fetches and builds it
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { isMain, main, root, run, say } from './lib/run.mjs';
import { freePort, startAnswering } from './lib/server.mjs';
import { isPrepared, prepare as prepareVSCode, quietNpm, versions, vscodeFolder } from './vscode-host.mjs';

export const theiaVersion = '1.74.1';

/** Parts of Theia: what an editor of C sources with extensions of VS Code needs. */
const parts = ['core', 'editor', 'filesystem', 'markers', 'messages', 'monaco', 'navigator', 'outline-view', 'output', 'plugin-ext'];
const moreParts = ['plugin-ext-vscode', 'preferences', 'process', 'workspace'];

const application = {
  private: true,
  name: 'cacheline-theia',
  version: '0.0.0',
  theia: { target: 'browser', frontend: { config: { applicationName: 'Theia' } } },
  dependencies: Object.fromEntries([...parts, ...moreParts].map((name) => [`@theia/${name}`, theiaVersion])),
  devDependencies: { '@theia/cli': theiaVersion },
  // Its own range takes a version that asks for packages that are no longer there.
  overrides: { traverse: '0.3.9' },
};

/** Quiet, without what would ask or speak over the page. */
const defaultSettings = {
  'security.workspace.trust.enabled': false,
  'editor.minimap.enabled': false,
};

const folder = path.join(root, '.cache', `theia-${theiaVersion}`);

/** Theia brings no languages: without this extension of VS Code, C sources are plain text and have no hovers. */
const grammarOf = (version) => path.join(vscodeFolder(version), 'extensions/cpp');

/** Fetches and builds Theia in .cache/; returns at once where that was done before. */
export async function prepareTheia() {
  const recipe = JSON.stringify(application, null, 2);
  if (await isPrepared(folder, recipe)) return;
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await writeFile(path.join(partial, 'package.json'), recipe);
  // node-gyp takes the headers beside the Node that runs this, and downloads none.
  const env = { ...process.env, npm_config_nodedir: path.dirname(path.dirname(process.execPath)) };
  const limit = { cwd: partial, env, capture: true, timeoutSeconds: 900 };
  say(`theia: installing Theia ${theiaVersion}`);
  await run('npm', ['install', '--ignore-scripts', ...quietNpm], limit);
  await run('npm', ['rebuild', ...quietNpm, 'drivelist'], limit);
  say('theia: building it');
  await run('npx', ['theia', 'build', '--mode', 'production'], limit);
  const [version] = versions;
  await prepareVSCode(version);
  await cp(grammarOf(version), path.join(partial, 'plugins/cpp'), { recursive: true });
  await writeFile(path.join(partial, 'recipe.json'), recipe);
  await rename(partial, folder);
}

/**
 * Starts Theia with a folder as its workspace, and waits until it answers.
 * @param options.configFolder its own: settings, extensions, state; the package is put there and is installed at the start
 * @returns `url` is the address of a window, `log` a file, `stop()` ends every process of it
 */
export async function startTheia({ workspace, configFolder, vsix, settings = {} }) {
  const plugins = path.join(configFolder, 'plugins');
  await mkdir(plugins, { recursive: true });
  await cp(vsix, path.join(plugins, path.basename(vsix)));
  await writeFile(path.join(configFolder, 'settings.json'), JSON.stringify({ ...defaultSettings, ...settings }, null, 2));
  const port = await freePort();
  const log = path.join(configFolder, 'server.log');
  const url = `http://127.0.0.1:${port}/`;
  const { stop } = await startAnswering(
    `Theia ${theiaVersion}`,
    { url, log },
    process.execPath,
    [
      ...[path.join(folder, 'lib/backend/main.js'), workspace, '--hostname=127.0.0.1', `--port=${port}`],
      `--plugins=local-dir:${path.join(folder, 'plugins')}`,
    ],
    // Pages come from the address of the window: names below it would need a name server.
    { cwd: folder, env: { ...process.env, THEIA_CONFIG_DIR: configFolder, THEIA_WEBVIEW_EXTERNAL_ENDPOINT: '{{hostname}}' } },
  );
  return { url, log, stop };
}

if (isMain(import.meta.url)) void main(prepareTheia);
