// What each other layout of a contended example gains: its fix, or what must not be advised (parted). Without a recording.
//   node scripts/bench-examples.mjs [--pairs N] [EXAMPLE...]     5 pairs by default, of all examples that have another layout
// The two runs of a pair take turns in going first. Threads that have to share a processor do not contend; so a pair during which other
// programs used the processors is run again, up to a limit, and what stayed disturbed is counted in the table.
// Exits with 0 where it could measure, whatever it measured.
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { printTable, progress, row } from './lib/bench-table.mjs';
import { buildExamples, examplesBin, readAnswers } from './lib/examples.mjs';
import { isMain, main, say, ScriptError } from './lib/run.mjs';
import { buildCputime, inPairs } from './lib/undisturbed.mjs';

const defaultPairs = 5;
const triesPerPair = 5;
async function gain(folder, { example, layout }, count) {
  const program = (variant) => [path.join(examplesBin, `${example}-${variant}`)];
  const { first, second, ratio, low, high, disturbed } = await inPairs(folder, program('contended'), program(layout), {
    count,
    tries: triesPerPair,
    note: (number, attempt) => progress(`${example}: pair ${number} of ${count}, attempt ${attempt}`),
  });
  progress('');
  return row(
    `${example}, ${layout}`,
    first.seconds.toFixed(3),
    second.seconds.toFixed(3),
    ratio.toFixed(2),
    `${low.toFixed(2)} to ${high.toFixed(2)}`,
    `${first.processors.toFixed(1)}, ${second.processors.toFixed(1)}`,
    String(disturbed),
  );
}

async function bench(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { pairs: { type: 'string', default: String(defaultPairs) } },
  });
  const count = Number(values.pairs);
  if (!(Number.isInteger(count) && count >= 1)) throw new ScriptError(`--pairs takes a whole number above 0, not '${values.pairs}'`);
  const layouts = (await readAnswers()).programs.flatMap(({ name }) => {
    const [, example, layout] = /^(.+)-(fixed|parted)$/.exec(name) ?? [];
    return example === undefined ? [] : { example, layout };
  });
  const unknown = positionals.find((name) => !layouts.some(({ example }) => example === name));
  if (unknown !== undefined)
    throw new ScriptError(`no example '${unknown}' with another layout; there are ${layouts.map(({ example }) => example).join(', ')}`);
  await buildExamples();
  await buildCputime();
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-examples-'));
  try {
    say(`bench:examples: ${cpus().length} CPUs, ${cpus()[0]?.model}; ${count} pairs each`);
    const rows = [];
    for (const other of layouts)
      if (positionals.length === 0 || positionals.includes(other.example)) rows.push(await gain(folder, other, count));
    printTable('Elapsed seconds, medians; the ratio is contended / other layout of each pair', [
      row('', 'contended', 'other', 'ratio', 'from, to', 'CPUs used', 'disturbed pairs'),
      ...rows,
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
