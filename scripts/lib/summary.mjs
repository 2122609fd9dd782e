// What a part of the tests returns, and the last lines of a run: whoever sees only the end of its output knows what failed.

/** Counts, and by name: `failures` [{name, message}], `skips` [name], `times` [{name, ms}] of the tests that ran, `retries` [name] of those that were tried again. */
export const none = { passed: 0, failed: 0, skipped: 0, failures: [], skips: [], times: [], retries: [] };

export const words = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

const limits = { failures: 20, lines: 12, columns: 240, names: 60, slow: 20 };

/**
 * @param results [{name, time, passed, failed, skipped, failures, skips, times, retries}], one a part; `time` is a text
 * @returns the lines: skipped, tried again, the slowest tests, failed, then the table and the sum
 */
export function summaryLines(results) {
  const named = (list) => results.flatMap((result) => result[list].map((item) => ({ part: result.name, item })));
  const names = (word, list) => bounded(named(list), limits.names, ({ part, item }) => [cut(`${word} ${part}: ${item}`)]);
  const slowest = named('times')
    .sort((a, b) => b.item.ms - a.item.ms)
    .slice(0, limits.slow);
  const failures = bounded(named('failures'), limits.failures, ({ part, item: { name, message } }) => [
    '',
    cut(`FAILED ${part}: ${name}`),
    ...firstLines(message).map((line) => `    ${line}`),
  ]);
  const width = Math.max(...results.map(({ name }) => name.length));
  return [
    ...names('skipped', 'skips'),
    ...names('tried again', 'retries'),
    ...slowest.map(({ part, item: { name, ms } }) => cut(`slow ${(ms / 1000).toFixed(1)} s  ${part}: ${name}`)),
    ...failures,
    '',
    ...results.map((result) => `${result.name.padEnd(width)}  ${words(result)}  ${result.time}`),
    words(sumOf(results)),
  ];
}

export function sumOf(results) {
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** The results of several parts as those of one. */
export function merged(results) {
  const all = (key) => results.flatMap((result) => result[key]);
  return { ...sumOf(results), failures: all('failures'), skips: all('skips'), times: all('times'), retries: all('retries') };
}

/** The end of a program's output, where most say what is wrong. */
export function lastLines(output) {
  return linesOf(output).slice(-limits.lines).join('\n');
}

function bounded(items, most, linesFor) {
  const lines = items.slice(0, most).flatMap(linesFor);
  return items.length > most ? [...lines, `… and ${items.length - most} more`] : lines;
}

function firstLines(message) {
  const lines = linesOf(message);
  return lines.length > limits.lines ? [...lines.slice(0, limits.lines).map(cut), '…'] : lines.map(cut);
}

function linesOf(text) {
  return text.split('\n').filter((line) => line.trim() !== '');
}

function cut(line) {
  return line.length > limits.columns ? `${line.slice(0, limits.columns)}…` : line;
}
