// Programs of test/fixtures/types with a known truth: what each source line accesses, where the objects lie, and whether a report says so.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const MARKER = /\btype: (.+?)\s*$/;

/**
 * @returns {Promise<Map<number, string[]>>} the markers of a source by line: what may be said of the access there, as "Worker.count"
 */
export async function readMarkers(source) {
  const markers = new Map();
  for (const [index, line] of (await readFile(source, 'utf8')).split('\n').entries()) {
    const comment = line.indexOf('//') < 0 ? undefined : MARKER.exec(line.slice(line.indexOf('//')));
    if (comment) markers.set(index + 1, comment[1].split('|'));
  }
  return markers;
}

/** @returns {{kind: string, from: bigint, to: bigint}[]} the objects that the program printed */
export function readObjects(output) {
  return [...output.matchAll(/^object (global|heap|stack) (0x[0-9a-f]+) (\d+)$/gm)].map(([, kind, address, size]) => ({
    kind,
    from: BigInt(address),
    to: BigInt(address) + BigInt(size),
  }));
}

/** @returns {{from: bigint, to: bigint, truth: string}[]} the members that the program printed: their names where code of a library accesses them */
export function readFields(output) {
  return [...output.matchAll(/^field (0x[0-9a-f]+) (\d+) (\S+)$/gm)].map(([, address, size, truth]) => ({
    from: BigInt(address),
    to: BigInt(address) + BigInt(size),
    truth,
  }));
}

/** Spaces, tags, qualifiers and array dimensions aside, and integers as their shortest names. */
function plainType(name) {
  return name
    .replace(/\b(struct|class|union|enum|const|volatile) /g, '')
    .replace(/\blong (unsigned int|int)\b/g, (_, rest) => (rest === 'int' ? 'long' : 'unsigned long'))
    .replace(/\b(\d+)[ul]+\b/gi, '$1')
    .replace(/(\s*\[\d*\])+$/, '')
    .replace(/^(\[\d*\])+/, '')
    .replace(/\s+/g, '');
}

/** "Worker.errors.codes" of Worker[8] and [2].errors.codes[1]. */
function pathOf(type, field) {
  const plain = field.replace(/\[[\d?]*\]/g, '').replace(/^\./, '');
  return plain === '' ? plainType(type) : `${plainType(type)}.${plain}`;
}

/**
 * Whether an access's names say one of `truths` ("Worker.count"). A member of a library's type is right by its own name: Clock.now for the long
 * inside of the atomic.
 */
export function isRight(data, truths) {
  const said = data.field.split(' | ').map((field) => pathOf(data.type, field));
  return truths.some((truth) => {
    const [type, ...members] = truth.split(/\.(?![^<]*>)/);
    const wanted = pathOf(type, members.join('.'));
    return said.some((one) => one === wanted || one.startsWith(`${wanted}.`));
  });
}

/**
 * Sorts a report's samples on known objects.
 * @param report cacheline-report/1, with all lines
 * @param fields judge accesses of code that is not in the source
 * @returns {{tallies: Object, wrong: {line: number|string, truth: string, said: string, records: number}[]}} by kind of object: `all` samples at
 * marked lines, those `typed`, those of them `right`, and `unmarked` ones at lines without a marker
 */
export function judge(report, source, markers, objects, fields) {
  const tallies = {};
  const wrong = [];
  const name = path.basename(source);
  for (const line of report.lines) {
    for (const access of line.accesses) {
      const address = BigInt(line.address) + BigInt(access.offset);
      const object = objects.find(({ from, to }) => address >= from && address < to);
      if (object === undefined) continue;
      const tally = (tallies[object.kind] ??= { all: 0, typed: 0, right: 0, unmarked: 0 });
      const frame = [access, ...access.inlined].find(({ file }) => path.basename(file) === name);
      const member = fields.find(({ from, to }) => address >= from && address < to);
      const truths = frame ? markers.get(frame.line) : member && [member.truth];
      if (truths === undefined) {
        tally.unmarked += access.records;
        continue;
      }
      tally.all += access.records;
      const { how = 'unknown', type = '', field = '', because = '' } = access.data;
      const typed = how !== 'unknown' && type !== '';
      const right = typed && isRight({ type, field }, truths);
      if (typed) tally.typed += access.records;
      if (right) tally.right += access.records;
      if (!right) {
        const said = typed ? `${type} ${field} (${how}: ${because})` : `unknown: ${because}`;
        wrong.push({
          line: frame?.line ?? `${path.basename(access.file || '?')}:${access.line}`,
          truth: truths.join('|'),
          said,
          records: access.records,
        });
      }
    }
  }
  return { tallies, wrong };
}
