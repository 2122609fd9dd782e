// Mocha's readable report on the console and, for the summary over all lanes, the results in the file CACHELINE_TEST_RESULTS names.
const { writeFileSync } = require('node:fs');
const { inspect } = require('node:util');
const Mocha = require('mocha');

const { EVENT_RUN_END, EVENT_TEST_END, EVENT_TEST_PENDING, EVENT_TEST_RETRY } = Mocha.Runner.constants;

class ResultsReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const skips = [];
    const times = [];
    const retries = [];
    runner.on(EVENT_TEST_PENDING, (test) => skips.push(test.fullTitle()));
    runner.on(EVENT_TEST_RETRY, (test, error) => retries.push(`${test.fullTitle()}: ${messageOf(error).replaceAll('\n', ' ')}`));
    runner.on(EVENT_TEST_END, (test) => {
      if (test.state === 'passed' || test.state === 'failed') times.push({ name: test.fullTitle(), ms: test.duration });
    });
    runner.once(EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const file = process.env.CACHELINE_TEST_RESULTS;
      if (file === undefined) return;
      const failed = this.failures.map((test) => ({ name: test.fullTitle(), message: messageOf(test.err) }));
      writeFileSync(file, JSON.stringify({ passed: passes, failed: failures, skipped: pending, failures: failed, skips, times, retries }));
    });
  }
}

/** Where it failed, the values where the assertion's own words replaced them, and what it says. */
function messageOf(error) {
  const lines = [];
  const place = /^ +at (?!.*(?:node:|node_modules))(.*:\d+:\d+\)?)$/m.exec(error.stack ?? '');
  if (place) lines.push(`at ${place[1]}`);
  if (error.generatedMessage === false && 'actual' in error)
    lines.push(`got ${short(error.actual)}, expected ${short(error.expected)} (${error.operator})`);
  return [...lines, error.message ?? String(error)].join('\n');
}

function short(value) {
  return inspect(value, { depth: 1, breakLength: Infinity, maxArrayLength: 10, maxStringLength: 200 });
}

module.exports = ResultsReporter;
