// What `npm run bench:ui` runs inside the extension host: it does what the benchmark asks for over a socket, and says what it measured.
// One JSON text a line: {id, call, args}, answered with {id, result} or {id, error}. Times are in ms, moments in ms since 1970.
const childProcess = require('node:child_process');
const { readFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const net = require('node:net');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { createInterface } = require('node:readline');
const vscode = require('vscode');

const EXTENSION = 'cacheline-lens.cacheline-lens';
/** Of the timer that the monitor of the event loop waits for, in ms. */
const RESOLUTION = 1;

const api = () => vscode.extensions.getExtension(EXTENSION).exports;
let delays;
let profiling;

/** Files that are mapped into a process. */
function mappedFiles(pid) {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
  return [...new Set(lines.map((line) => line.slice(73).trim()).filter((file) => file.startsWith('/')))];
}

/** Commands of the processes that this one started. */
function childCommands() {
  const pids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ');
  return pids.filter((pid) => pid !== '').map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
}

const calls = {
  /** What there is of the engine in this process and below it is told before and after. */
  async activate() {
    const extension = vscode.extensions.getExtension(EXTENSION);
    if (extension.isActive) throw new Error('the extension is active already: this window cannot say how long that takes');
    const began = performance.now();
    await extension.activate();
    return { ms: performance.now() - began, mapped: mappedFiles(process.pid), children: childCommands() };
  },
  /** Of the process that analyzes, where one runs. */
  async engine() {
    const pid = api().enginePid();
    return pid === undefined ? undefined : { pid, mapped: mappedFiles(pid) };
  },
  /** The editor lists lines that have a share of what is waited for: from now on all of them, as `report --show-all` does. */
  async listAllLines() {
    const { fork } = childProcess;
    childProcess.fork = (...args) => {
      const child = fork(...args);
      const { send } = child;
      child.send = (message, ...rest) => {
        if (message?.method === 'open') message.params.showAll = true;
        return send.call(child, message, ...rest);
      };
      return child;
    };
  },
  /** @returns the moment at which it was asked for */
  async openRecording(path) {
    const at = Date.now();
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(path), 'cacheline.recording');
    return at;
  },
  async run(command, ...args) {
    await vscode.commands.executeCommand(command, ...args);
  },
  /** Whether the page of the one tab has been sent what it waited for last. */
  async advised() {
    return api().recordingTabs()[0]?.advice !== undefined;
  },
  async showDocument(path) {
    await vscode.window.showTextDocument(vscode.Uri.file(path));
  },
  /** Shows a file and, as soon as the editor tells of it, an icon in its gutter: the least that an extension needs. */
  async showDocumentWithIcon(path) {
    const uri = vscode.Uri.file(path);
    const { extensionUri } = vscode.extensions.getExtension(EXTENSION);
    const icon = vscode.window.createTextEditorDecorationType({
      gutterIconPath: vscode.Uri.joinPath(extensionUri, 'media', 'heat-4-dark.svg'),
    });
    const drawn = vscode.window.onDidChangeActiveTextEditor((editor) => {
      if (editor?.document.uri.toString() === uri.toString()) editor.setDecorations(icon, [new vscode.Range(0, 0, 0, 0)]);
    });
    await vscode.window.showTextDocument(uri);
    drawn.dispose();
  },
  async heatLines(path) {
    return (await api().heatOf(vscode.Uri.file(path))).length;
  },
  async watchDelays() {
    delays = monitorEventLoopDelay({ resolution: RESOLUTION });
    delays.enable();
  },
  /** The longest that the event loop was late since then, in ms. */
  async longestDelay() {
    delays.disable();
    return Math.max(0, delays.max / 1e6 - RESOLUTION);
  },
  async startProfile() {
    profiling = new Session();
    profiling.connect();
    profiling.post('Profiler.enable');
    profiling.post('Profiler.setSamplingInterval', { interval: 200 });
    await new Promise((resolve) => profiling.post('Profiler.start', resolve));
  },
  /** @returns what a `.cpuprofile` file holds */
  stopProfile() {
    return new Promise((resolve, reject) =>
      profiling.post('Profiler.stop', (error, found) => (error ? reject(error) : resolve(found.profile))),
    );
  },
};

/** Ends when the benchmark closes the socket. */
exports.run = () =>
  new Promise((resolve, reject) => {
    const socket = net.connect(process.env.CACHELINE_BENCH_SOCKET);
    socket.once('error', reject).once('close', resolve);
    createInterface({ input: socket }).on('line', async (line) => {
      const { id, call, args } = JSON.parse(line);
      const answer = await calls[call](...args).then(
        (result) => ({ result }),
        (error) => ({ error: error.stack }),
      );
      socket.write(`${JSON.stringify({ id, ...answer })}\n`);
    });
  });
