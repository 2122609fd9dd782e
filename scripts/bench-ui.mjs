// How fast the editor answers: the extension in a real VS Code in headless Chromium, on synthetic recordings.
//   node scripts/bench-ui.mjs [--samples N] [--rows N] [--runs N] [--only start,gutter,rows] [--profile FOLDER]
//     --samples   of the recording that is opened, by default 10,000,000
//     --rows      cache lines of the recording that is sorted, filtered and scrolled, by default 500,000
//     --runs      of each measurement, by default and for the targets at least 5
//     --profile   a folder that takes a CPU profile of the extension host of each part
// Exits with 0 where it could measure, whatever it measured.
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { addonFile, build, buildFolder } from './build.mjs';
import { smallProgram } from './lib/bench-programs.mjs';
import { printTable, progress, row, verdict } from './lib/bench-table.mjs';
import { median } from './lib/median.mjs';
import { isMain, main, run, say, ScriptError } from './lib/run.mjs';
import { startEditor } from './lib/ui-window.mjs';
import { setup } from './setup.mjs';
import { prepare, versions } from './vscode-host.mjs';

const full = { samples: 10_000_000, rows: 500_000, runs: 5 };
const synth = path.join(buildFolder, 'native/tests/cacheline_synth');
const partNames = ['start', 'gutter', 'rows'];

/** Of the recording of many rows: samples for each line, and lines for each row, since some are used by one thread alone. */
const samplesOfLine = 4;
const linesOfRow = 1.14;
/** Of the file with hot lines: lines, how many have code, and how many of these are hot at least. */
const source = { lines: 5000, code: 556, hot: 500 };
/** Of the wheel: pixels a second, and for how many pixels. */
const scrolled = { speed: 4000, pixels: 16_000 };

async function bench(args) {
  const { values } = parseArgs({
    args,
    options: {
      samples: { type: 'string', default: `${full.samples}` },
      rows: { type: 'string', default: `${full.rows}` },
      runs: { type: 'string', default: `${full.runs}` },
      only: { type: 'string', default: partNames.join(',') },
      profile: { type: 'string' },
    },
  });
  const plan = {
    samples: numberOf('--samples', values.samples, 10_000),
    rows: numberOf('--rows', values.rows, 2000),
    runs: numberOf('--runs', values.runs, 1),
    profile: values.profile,
  };
  const only = values.only.split(',');
  const unknown = only.find((name) => !partNames.includes(name));
  if (unknown !== undefined) throw new ScriptError(`there is no part "${unknown}": ${partNames.join(', ')}`);
  const version = versions.at(-1);
  await setup(['build', 'test']);
  await run('cmake', ['--preset', 'release', '-DCACHELINE_TESTS=ON', '--log-level=WARNING'], { capture: true });
  await build();
  await run('ninja', ['-C', buildFolder, '--quiet', 'cacheline_synth']);
  await prepare(version);
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-ui-'));
  let editor;
  try {
    say(
      `bench:ui: ${cpus().length} CPUs, ${cpus()[0]?.model}; VS Code ${version.name}; medians of ${plan.runs} runs; load ${loadavg()[0].toFixed(1)}`,
    );
    if (Object.keys(full).some((name) => (name === 'runs' ? plan.runs < full.runs : plan[name] !== full[name])))
      say('bench:ui: shortened; the targets are for 10,000,000 samples, 500,000 rows and at least 5 runs');
    await writeRecordings(folder, plan, only);
    editor = await startEditor(version, folder);
    const bodies = { start, gutter, rows };
    const table = [];
    const delays = new Map();
    for (const name of only) table.push(...(await bodies[name](editor, folder, plan, delays)));
    progress('');
    table.push(blockingRow(delays));
    printTable('The editor', table);
    return 0;
  } finally {
    await editor?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function numberOf(name, text, least) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least) throw new ScriptError(`${name} takes a number of at least ${least}, not ${text}`);
  return number;
}

const recordingOf = (folder, name) => path.join(folder, `${name}.cacheline`);

async function writeRecordings(folder, plan, only) {
  const worker = await smallProgram();
  const lines = Math.round(plan.rows * linesOfRow);
  const shapes = {
    start: ['--samples', `${plan.samples}`, '--binary', worker, '--lines', '2000', '--codes', '20', '--places', '1', '--variants', '1'],
    rows: ['--samples', `${lines * samplesOfLine}`, '--binary', worker, '--lines', `${lines}`, '--codes', '20'],
  };
  if (only.includes('gutter')) {
    const binary = await hotProgram(folder);
    shapes.gutter = ['--samples', '200000', '--binary', binary, '--lines', '50', '--codes', `${source.code}`, '--even', '--variants', '15'];
  }
  for (const name of only.filter((one) => one in shapes)) {
    progress(`writing the recording of "${name}"`);
    await mkdir(recordingOf(folder, name));
    await run(synth, ['intel', '-o', path.join(recordingOf(folder, name), 'perf.data'), ...shapes[name]], { timeoutSeconds: 300 });
  }
  progress('');
}

/** A program that is only read: every ninth line of its one function has a load or a store. */
async function hotProgram(folder) {
  const every = Math.ceil((source.lines - 3) / source.code);
  const lines = Array.from({ length: source.lines - 3 }, (_, line) => {
    if (line % every !== 0) return `  // line ${line}`;
    return (line / every) % 4 === 3 ? `  words[${line}] = sum;` : `  sum += words[${line}];`;
  });
  const file = sourceOf(folder);
  const text = ['static volatile long words[8192] = {1};', 'void _start(void) { long sum = 0;', ...lines, '}', ''].join('\n');
  await writeFile(file, text);
  const binary = path.join(folder, 'hot');
  await run('cc', ['-O1', '-g', '-fno-pie', '-no-pie', '-static', '-nostdlib', '-fcf-protection=none', '-o', binary, file]);
  return binary;
}

const sourceOf = (folder) => path.join(folder, 'hot.c');

/** Runs `body`; where wanted, with a CPU profile of the extension host. */
async function profiled(window, name, { profile }, body) {
  if (profile === undefined) return body();
  await window.host('startProfile');
  const result = await body();
  await mkdir(profile, { recursive: true });
  await writeFile(path.join(profile, `${name}.cpuprofile`), JSON.stringify(await window.host('stopProfile')));
  return result;
}

/** Runs `body` while the event loop of the extension host is watched. */
async function watched(window, what, plan, delays, body) {
  const before = delays.get(what) ?? [];
  return profiled(window, `${what.replaceAll(' ', '-')}-${before.length + 1}`, plan, async () => {
    await window.host('watchDelays');
    const result = await body();
    delays.set(what, [...before, await window.host('longestDelay')]);
    return result;
  });
}

/** The longest time that the event loop was late in each part: the median of its runs, and of them the worst. */
function blockingRow(delays) {
  const parts = [...delays].map(([what, all]) => [what, median(all)]).sort(([, a], [, b]) => b - a);
  return row(
    'blocking of the extension host',
    ...atMost(parts[0][1], 20, 'ms'),
    parts.map(([what, ms]) => `${what} ${ms.toFixed(0)}`).join(', '),
  );
}

/** Windows that activate the extension and open the large recording, in turns with the engine alone. */
async function start(editor, folder, plan, delays) {
  const recording = recordingOf(folder, 'start');
  const times = { activation: [], alone: [], painted: [] };
  for (let number = 1; number <= plan.runs; number++) {
    progress(`start: run ${number} of ${plan.runs}`);
    times.alone.push(await engineAlone(recording));
    const window = await editor.open();
    try {
      const { ms, mapped, children } = await profiled(window, `activation-${number}`, plan, () => window.host('activate'));
      const native = [...mapped, ...children].filter((one) => one.includes(path.basename(addonFile)) || one.includes('dist/helper.js'));
      if (native.length > 0 || (await window.host('engine')) !== undefined)
        throw new ScriptError(`the activation loaded or started ${native.join(', ')}`);
      times.activation.push(ms);
      await watched(window, 'open', plan, delays, async () => {
        const asked = await window.host('openRecording', recording);
        const panel = await window.panel();
        times.painted.push((await panel.evaluate(() => globalThis.cachelineProbe.firstRows)) - asked);
      });
      const engine = await window.host('engine');
      if (!engine.mapped.some((file) => path.basename(file) === path.basename(addonFile)))
        throw new ScriptError(`the process ${engine.pid} that analyzes has not mapped ${path.basename(addonFile)}`);
    } finally {
      await window.close();
    }
  }
  const [alone, painted] = [median(times.alone), median(times.painted)];
  return [
    row('activation', ...atMost(median(times.activation), 50, 'ms'), 'nothing native was loaded before the first use'),
    row(
      `open ${count(plan.samples)} samples: first rows painted`,
      ...atMost(painted / alone, 1.2, 'x the engine'),
      `${painted.toFixed(0)} ms, the engine alone ${alone.toFixed(0)} ms`,
    ),
  ];
}

const addon = () => createRequire(import.meta.url)(addonFile);

/** Ms that the engine takes to open the recording as the editor has it opened, in this process. */
async function engineAlone(recording) {
  const began = performance.now();
  const { handle } = await addon().open({ path: recording, showAll: false, callers: true }, () => {}).done;
  const ms = performance.now() - began;
  addon().close({ handle });
  return ms;
}

/** A file of many hot lines, each time with its recording opened anew, in turns with a file of as many lines that gets one icon at once. */
async function gutter(editor, folder, plan, delays) {
  const plain = path.join(folder, 'plain.c');
  await copyFile(sourceOf(folder), plain);
  const window = await editor.open();
  try {
    await window.host('activate');
    const times = { heated: [], plain: [] };
    let lines = 0;
    /** Ms from the file to its first icon. */
    const measure = async (show) => {
      const hot = await window.page.evaluateHandle(watchGutter);
      await show();
      const [shown, heated] = await hot.evaluate(({ both }) => both);
      return heated - shown;
    };
    const showHeated = async () => {
      await window.host('run', 'workbench.action.closeAllEditors');
      await window.host('run', 'cacheline.clear');
      await window.host('openRecording', recordingOf(folder, 'gutter'));
      await window.panel();
      await window.settle();
      await watched(window, 'gutter', plan, delays, async () => {
        times.heated.push(await measure(() => window.host('showDocument', sourceOf(folder))));
      });
      lines = await window.host('heatLines', sourceOf(folder));
      if (lines < source.hot) throw new ScriptError(`${lines} lines are hot, not ${source.hot}`);
    };
    const showPlain = async () => {
      await window.host('run', 'workbench.action.closeAllEditors');
      times.plain.push(await measure(() => window.host('showDocumentWithIcon', plain)));
    };
    for (let number = 1; number <= plan.runs; number++) {
      progress(`gutter: run ${number} of ${plan.runs}`);
      for (const show of number % 2 === 1 ? [showPlain, showHeated] : [showHeated, showPlain]) await show();
    }
    return [
      row(
        `gutter of ${count(source.lines)} lines, ${lines} of them hot`,
        ...atMost(median(times.heated), 50, 'ms after the file'),
        `one icon that needs no profile ${median(times.plain).toFixed(0)} ms`,
      ),
    ];
  } finally {
    await window.close();
  }
}

/** In the page of the editor: the moments at which lines of a file and at which icons beside them are painted. */
function watchGutter() {
  const { when } = globalThis.cachelineProbe;
  const hasIcon = () =>
    [...document.querySelectorAll('.glyph-margin-widgets .cgmr')].some((one) => getComputedStyle(one).backgroundImage !== 'none');
  const shown = when(() => document.querySelector('.editor-instance .view-line span') !== null);
  return { both: Promise.all([shown, when(hasIcon)]) };
}

/** Sorting, filtering and scrolling of a long table, and another metric for it. */
async function rows(editor, folder, plan, delays) {
  const recording = recordingOf(folder, 'rows');
  const window = await editor.open();
  try {
    await window.host('activate');
    await window.host('listAllLines');
    progress('rows: opening');
    await window.host('openRecording', recording);
    const panel = await window.panel();
    await window.settle();
    const timed = async (what, act) => {
      const all = [];
      for (let number = 0; number < plan.runs; number++) {
        progress(`${what}: run ${number + 1} of ${plan.runs}`);
        await window.settle();
        all.push(await watched(window, what, plan, delays, () => act(number)));
      }
      return median(all);
    };
    const total = count(Number(await panel.locator('[role=treegrid]').getAttribute('aria-rowcount')));
    const sort = await timed('sort', (number) => panel.evaluate(sortBy, ['Records', 'Line', 'Verdict', 'Share'][number % 4]));
    const filter = await timed('filter of rows', (number) => panel.evaluate(setFilter, `samples>${number % 3}`).then(({ ms }) => ms));
    await panel.evaluate(setFilter, '');
    const windows = [];
    const samples = await timed('filter of samples', async (number) => {
      const { ms, shares } = await panel.evaluate(setFilter, timeWindow(number));
      windows.push(shares);
      return ms;
    });
    await panel.evaluate(setFilter, '');
    await window.settle();
    const scan = await engineFilter(recording, plan.runs);
    await window.settle();
    const told = windows.filter((shares) => shares > 0).length;
    const blanks = [];
    const framesPerSecond = await timed('scroll', async () => {
      const { perSecond, frames, blank } = await scrollThrough(window, panel);
      blanks.push([blank, frames]);
      return perSecond;
    });
    const [blank, frames] = blanks.reduce(([a, b], [c, d]) => [a + c, b + d]);
    await panel.evaluate(() => (document.querySelector('[role=treegrid]').scrollTop = 0));
    await window.settle();
    const metrics = ['latency', 'hitm'];
    for (const metric of metrics) await panel.evaluate(chooseMetric, metric); // at the first change the editor starts other extensions
    const metric = await timed('heat metric', (number) => panel.evaluate(chooseMetric, metrics[number % 2]).then(({ ms }) => ms));
    await panel.evaluate(sortBy, 'Share');
    const ordered = await timed('heat metric by share', (number) =>
      panel.evaluate(chooseMetric, metrics[(plan.runs + number) % 2]).then(({ ms }) => ms),
    );
    const sent = await panel.evaluate(chooseMetric, metrics[(2 * plan.runs) % 2]);
    return [
      row(`sort ${total} rows`, ...atMost(sort, 150, 'ms')),
      row(`filter ${total} rows`, ...atMost(filter, 150, 'ms')),
      row(
        'filter their samples by time',
        ...atMost(samples / scan, 1.2, 'x the engine'),
        `${samples.toFixed(0)} ms, the engine alone ${scan.toFixed(0)} ms; ${told} of ${windows.length} with progress`,
      ),
      row(
        `scroll ${total} rows`,
        ...atLeast(framesPerSecond, 55, 'frames/s'),
        `${blank} of ${frames} frames with blank rows: ${verdict(blank === 0)}`,
      ),
      row('another heat metric', ...atMost(metric, 50, 'ms')),
      row('another heat metric where it sorts the rows', ...atMost(ordered, 50, 'ms')),
      row(
        'lines that it sends',
        ...atMost(sent.lines / sent.shown, 2, 'x those drawn'),
        `${sent.lines} lines, ${(sent.bytes / 1024).toFixed(0)} KiB`,
      ),
    ];
  } finally {
    await window.close();
  }
}

const timeWindow = (number) => `time:${10 * (number % 4)}-${60 + 10 * (number % 4)}%`;

/** Ms that the engine takes for another time filter of all lines, in this process. */
async function engineFilter(recording, runs) {
  const { handle } = await addon().open({ path: recording, showAll: true, callers: true }, () => {}).done;
  const times = [];
  for (let number = 0; number < runs; number++) {
    progress(`the engine's filter: run ${number + 1} of ${runs}`);
    const began = performance.now();
    await addon().filter({ handle, filter: timeWindow(number) }, () => {}).done;
    times.push(performance.now() - began);
  }
  addon().close({ handle });
  return median(times);
}

/** In the panel's page: from the click on a title to the sorted rows. */
async function sortBy(name) {
  const { when, now, isFilled } = globalThis.cachelineProbe;
  const button = [...document.querySelectorAll('.titles .column button')].find((one) => one.textContent === name);
  const before = button.parentElement.getAttribute('aria-sort');
  const began = now();
  button.click();
  return (await when(() => button.parentElement.getAttribute('aria-sort') !== before && isFilled())) - began;
}

/** In the panel's page: from Enter to the rows that the filter leaves; and how many shares of progress were seen meanwhile. */
async function setFilter(filter) {
  const { when, now, isFilled } = globalThis.cachelineProbe;
  const box = document.querySelector('.filter input');
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, filter);
  box.dispatchEvent(new Event('input', { bubbles: true }));
  await when(() => true); // the page has drawn what it proposes
  const chips = () => [...document.querySelectorAll('.filter .chips button')].map((chip) => chip.textContent.replace(/ ×$/, '')).join(' ');
  const seen = new Set();
  const began = now();
  box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  const ended = await when(() => {
    const bar = document.querySelector('.filter [role=progressbar]');
    if (bar !== null) seen.add(bar.getAttribute('aria-valuenow'));
    return chips() === filter && box.getAttribute('aria-busy') === 'false' && isFilled();
  });
  return { ms: ended - began, shares: seen.size };
}

/** In the panel's page: from the choice to the rows with bars of the other metric; and what was sent for it. */
async function chooseMetric(metric) {
  const probe = globalThis.cachelineProbe;
  const choice = document.querySelector('select.metric');
  const title = () => document.querySelector('.titles .share button').title;
  const before = title();
  Object.assign(probe, { bytes: 0, lines: 0 });
  const began = probe.now();
  choice.value = metric;
  choice.dispatchEvent(new Event('change', { bubbles: true }));
  const ended = await probe.when(() => title() !== before && probe.isFilled());
  const { bytes, lines } = probe;
  return { ms: ended - began, bytes, lines, shown: document.querySelectorAll('.row.line').length };
}

/** Turns the wheel over the table, and looks at each frame of its page. */
async function scrollThrough(window, panel) {
  const box = await panel.locator('[role=treegrid]').boundingBox();
  const input = await window.page.context().newCDPSession(window.page);
  const frames = await panel.evaluateHandle(watchFrames);
  await input.send('Input.synthesizeScrollGesture', {
    x: box.x + box.width / 2,
    y: box.y + (box.height * 2) / 3,
    yDistance: -scrolled.pixels,
    speed: scrolled.speed,
    gestureSourceType: 'mouse',
  });
  return frames.evaluate(({ end }) => end());
}

/** In the panel's page: the frames in which the table moved, until `end` is called. */
function watchFrames() {
  const table = document.querySelector('[role=treegrid]');
  const moved = [];
  let [blank, top, running] = [0, table.scrollTop, true];
  const look = (at) => {
    if (table.scrollTop !== top) {
      top = table.scrollTop;
      moved.push(at);
      const { left, top: above, bottom, width } = table.getBoundingClientRect();
      const head = table.querySelector('.head').getBoundingClientRect().bottom;
      const places = [Math.max(above, head) + 2, (above + bottom) / 2, bottom - 20];
      const isRow = (y) => document.elementFromPoint(left + width / 3, y)?.closest('.row:not(.missing)') instanceof Element;
      if (!places.every(isRow)) ++blank;
    }
    if (running) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  return {
    end() {
      running = false;
      return { frames: moved.length, blank, perSecond: ((moved.length - 1) * 1000) / (moved.at(-1) - moved[0]) };
    },
  };
}

const count = (value) => value.toLocaleString('en');
const atMost = (value, limit, unit) => [
  `${value.toFixed(unit.startsWith('x') ? 2 : 1)} ${unit}`,
  `at most ${limit}`,
  verdict(value <= limit),
];
const atLeast = (value, limit, unit) => [`${value.toFixed(1)} ${unit}`, `at least ${limit}`, verdict(value >= limit)];

if (isMain(import.meta.url)) void main(bench);
