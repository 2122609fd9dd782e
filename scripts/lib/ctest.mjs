// The results that ctest writes: counts, and what the failed and the skipped tests said.
import { ScriptError } from './run.mjs';
import { lastLines } from './summary.mjs';

/**
 * @param junit text of the file that `ctest --output-junit` wrote
 * @param output of ctest itself, whose last lines alone say how a test ended
 * @returns results as in summary.mjs; a skipped test's name carries its reason
 * @throws ScriptError where the text has no counts
 */
export function readResults(junit, output) {
  const head = /<testsuite\b[^>]*>/.exec(junit)?.[0] ?? '';
  const [tests, failed, skipped, disabled] = ['tests', 'failures', 'skipped', 'disabled'].map((name) => {
    const value = new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1];
    if (value === undefined) throw new ScriptError(`the results of ctest say no ${name}`);
    return Number(value);
  });
  const endings = new Map([...output.matchAll(/^\s+\d+ - (\S+) \((.*)\)/gm)].map(([, name, ending]) => [name, ending]));
  const failures = [];
  const skips = [];
  for (const [, xml, status, body] of junit.matchAll(/<testcase name="([^"]*)"[^>]*\bstatus="(\w+)"[^>]*>([^]*?)<\/testcase>/g)) {
    const name = plain(xml);
    const text = plain(/<system-out>([^]*?)<\/system-out>/.exec(body)?.[1] ?? '').trim();
    if (status === 'fail')
      failures.push({ name, message: complaint(text) ?? `${endings.get(name)}; the end of its output:\n${lastLines(text)}` });
    if (status === 'notrun') skips.push(`${name}: ${/: Skipped\n([^]*?)\n+\[/.exec(text)?.[1] ?? text}`);
  }
  return { passed: tests - failed - skipped - disabled, failed, skipped: skipped + disabled, failures, skips, retries: [] };
}

/** From GoogleTest's or a sanitizer's first complaint on. */
function complaint(text) {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => /: Failure$|^unknown file: |runtime error: |==\d+==ERROR: |terminate called/.test(line));
  return first >= 0 ? lines.slice(first).join('\n') : undefined;
}

const entities = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function plain(xml) {
  return xml.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
    hex || decimal ? String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal)) : (entities[name] ?? whole),
  );
}
