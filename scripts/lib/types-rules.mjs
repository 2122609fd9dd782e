// What each rule of naming gains: the same recordings reported with all rules, and without each of them in turn.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { progress, row } from './bench-table.mjs';
import { root, ScriptError } from './run.mjs';

const header = 'native/inference/naming_rules.h';
const variable = 'CACHELINE_WITHOUT_NAMING_RULE';
const reportsAtOnce = 2;

/** @returns {Promise<string[]>} the rules, as the engine names them */
async function readRules() {
  const [, body] = /enum class NamingRule[^{]*\{([^}]*)\}/.exec(await readFile(path.join(root, header), 'utf8')) ?? [];
  const rules = [...(body ?? '').matchAll(/^ {2}(\w+),/gm)].map(([, rule]) => rule);
  if (rules.length === 0) throw new ScriptError(`There are no rules in ${header}.`);
  return rules;
}

/** The samples of one report by what they are called. */
const namesOf = (report) =>
  new Map(
    report.lines.flatMap(({ address, accesses }) =>
      accesses.map(({ offset, codeAddress, records, data }) => [
        `${address} ${offset} ${codeAddress}`,
        { records, name: [data.object, data.type, data.field, data.index ?? ''].join(' ') },
      ]),
    ),
  );

const sum = (tallies) =>
  Object.values(tallies).reduce((all, one) => ({ all: all.all + one.all, typed: all.typed + one.typed, right: all.right + one.right }), {
    all: 0,
    typed: 0,
    right: 0,
  });

/** Percent of all samples that `rule` gains on one build, and of whose samples it changes the name. */
function gainOf(withAll, without) {
  const before = sum(withAll.tallies);
  const after = sum(without.tallies);
  let samples = 0;
  let changed = 0;
  for (const [key, { records, name }] of withAll.names) {
    samples += records;
    if (without.names.get(key)?.name !== name) changed += records;
  }
  const percent = (part, all) => (all === 0 ? 0 : (100 * part) / all);
  return {
    typed: percent(before.typed - after.typed, before.all),
    right: percent(before.right - after.right, before.all),
    changed: percent(changed, samples),
  };
}

/**
 * @param recorded the recordings: `title`, and `report(environment)`, which reports and judges one
 * @returns rows of a table: each rule, and the build on which most is right by it
 */
export async function ruleRows(recorded) {
  const reportAll = async (environment) => {
    const results = new Array(recorded.length);
    let next = 0;
    const work = async () => {
      for (let i = next++; i < recorded.length; i = next++) {
        const { report, tallies } = await recorded[i].report(environment);
        results[i] = { tallies, names: namesOf(report) };
      }
    };
    await Promise.all(Array.from({ length: reportsAtOnce }, work));
    return results;
  };
  const withAll = await reportAll({});
  const rows = [row('without', 'typed', 'right', 'on', 'other names', 'on')];
  const points = (gain) => `${gain > 0 ? '-' : gain < 0 ? '+' : ''}${Math.abs(gain).toFixed(1)}%`;
  for (const rule of await readRules()) {
    progress(`reports without ${rule}`);
    const without = await reportAll({ [variable]: rule });
    const gains = withAll.map((all, i) => ({ title: recorded[i].title, ...gainOf(all, without[i]) }));
    const most = gains.reduce((best, one) => (one.right > best.right ? one : best));
    const other = gains.reduce((best, one) => (one.changed > best.changed ? one : best));
    rows.push(
      row(
        rule,
        points(most.typed),
        points(most.right),
        most.right > 0 ? most.title : '',
        `${other.changed.toFixed(1)}%`,
        other.changed > 0 ? other.title : '',
      ),
    );
  }
  return rows;
}
