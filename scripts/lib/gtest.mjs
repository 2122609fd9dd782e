// Runs GoogleTest programs whole: starting a process for each test costs more than most tests.
// A test that ends its program is named, and those behind it still run.
import { open, readFile, rm } from 'node:fs/promises';
import { availableParallelism, constants } from 'node:os';
import path from 'node:path';
import { run, say } from './run.mjs';
import { lastLines, merged, none, words } from './summary.mjs';

/** What runs without sanitizers: native/tests/live. */
export const liveProgram = 'live';

/** The test programs of native's folders by name, those that take longest first: the cores then end together. */
export const folderPrograms = [
  'record',
  'inference',
  'layouts',
  'types',
  'symbols',
  'decode',
  'perfdata',
  'sharing',
  'heap',
  'analysis',
  'profile',
  'tables',
  'workset',
  'advice',
  'scheduling',
  'traces',
  'spe',
  'calibration',
  'machine',
  'c2c',
  'text',
];

/** The test programs of a build folder. */
export const testPrograms = (folder, names = folderPrograms) => names.map((name) => path.join(folder, 'native/tests', `test_${name}`));

/**
 * Runs programs side by side, one a core; `PROGRAM.log` has all that one printed.
 * @param programs paths, the longest-running first
 * @param options.tell takes what there is to say meanwhile
 * @param options.yielding, options.foremost as of `start`
 * @param options.timeoutSeconds of a program; the test that it is at then has failed, and the others go on
 * @returns results as in summary.mjs; a skipped test's name carries its reason
 */
export async function runPrograms(programs, options) {
  const waiting = [...programs];
  const results = [];
  const worker = async () => {
    for (let program; (program = waiting.shift()) !== undefined;) {
      results.push(await runProgram(program, options).catch((error) => failure(path.basename(program), error.message)));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return merged(results);
}

/** Their tests record programs. */
const recordingPrograms = ['record'];

async function runProgram(program, { yielding, foremost, timeoutSeconds, tell = say }) {
  const label = path.basename(program).replace(/^test_/, '');
  const log = `${program}.log`;
  await rm(log, { force: true });
  const { stdout } = await run(program, ['--gtest_list_tests'], { capture: true, timeoutSeconds });
  const names = testNames(stdout);
  const recording = recordingPrograms.includes(label);
  const results = [];
  const started = performance.now();
  for (let rest = names; rest.length > 0;) {
    const { output, status, timedOut } = await runTests(program, rest, log, { yielding, recording, foremost, timeoutSeconds });
    const ending = timedOut ? `did not end within ${timeoutSeconds} s` : endingOf(status);
    const { last, ...found } = readOutput(label, output, ending);
    results.push(found);
    if (last === undefined || (status !== 0 && found.failed === 0))
      results.push(failure(label, complaint(output) ?? `${ending} outside of its tests\n${lastLines(output)}`));
    if (last === undefined) break;
    rest = rest.slice(rest.indexOf(last) + 1);
  }
  const ran = merged(results);
  for (const { name, message } of ran.failures) tell(`FAILED ${name}\n${message}`);
  tell(`${label}: ${words(ran)} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  const left = names.length - ran.passed - ran.failed - ran.skipped;
  return left <= 0 ? ran : merged([ran, failure(label, `${left} of its ${names.length} tests did not run`)]);
}

/** Both outputs go to one file: a sanitizer's words stand with the test they belong to, and whatever outlives the program holds up nothing. */
async function runTests(program, names, log, options) {
  const file = await open(log, 'a');
  try {
    const from = (await file.stat()).size;
    const { status, timedOut } = await run(program, ['--gtest_color=no', '--gtest_brief=0', `--gtest_filter=${names.join(':')}`], {
      ...options,
      check: false,
      cwd: path.dirname(program),
      stdio: ['ignore', file.fd, file.fd],
    });
    return { status, timedOut, output: (await readFile(log)).subarray(from).toString() };
  } finally {
    await file.close();
  }
}

/** The names in the output of `--gtest_list_tests`: a line `Suite.`, then its tests, indented. */
function testNames(list) {
  let suite;
  return [...list.matchAll(/^(?:(\S+\.)| {2}(\S+))(?: .*)?$/gm)].flatMap(([, head, name]) => {
    if (head !== undefined) suite = head;
    return name === undefined ? [] : [suite + name];
  });
}

/**
 * @param output of a program
 * @param ending how the program ended, for the test that it did not come back from
 * @returns results, and `last`, the name of the last test that was begun
 */
function readOutput(label, output, ending) {
  const results = { ...none, failures: [], skips: [], times: [], last: undefined };
  for (const block of output.split('[ RUN      ] ').slice(1)) {
    const name = /^\S+/.exec(block)[0];
    const ended = new RegExp(`\n([^]*?)\\[ +(OK|FAILED|SKIPPED) +\\] ${name}\\b.*?(?:\\((\\d+) ms\\))?$`, 'm').exec(block);
    const [, text, word, ms] = ended ?? [, block.slice(name.length)];
    results.last = name;
    if (ms !== undefined) results.times.push({ name: `${label}.${name}`, ms: Number(ms) });
    if (word === 'OK') results.passed++;
    else if (word === 'SKIPPED') {
      results.skipped++;
      results.skips.push(`${label}.${name}: ${/: Skipped\n([^]*?)\s*$/.exec(text)?.[1] ?? text}`);
    } else {
      results.failed++;
      const message = complaint(text) ?? `${word ? 'failed' : ending}; the end of its output:\n${lastLines(text)}`;
      results.failures.push({ name: `${label}.${name}`, message });
    }
  }
  return results;
}

const failure = (name, message) => ({ ...none, failed: 1, failures: [{ name, message }] });

const sanitizerComplaint = /runtime error: |==\d+==ERROR: |WARNING: ThreadSanitizer/;

/** From GoogleTest's or a sanitizer's first complaint on. */
function complaint(text) {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => /: Failure$|^unknown file: |terminate called/.test(line) || sanitizerComplaint.test(line));
  return first >= 0 ? lines.slice(first).join('\n').trim() : undefined;
}

function endingOf(status) {
  const signal = Object.entries(constants.signals).find(([, number]) => number === status - 128);
  return signal === undefined ? `ended with status ${status}` : `ended by ${signal[0]}`;
}
