// Recordings by cacheline_synth, and the program that they name.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../command';
import { parseList, type Sample } from './recount';

const synth = join(root, 'build/release/native/tests/cacheline_synth');

export const canSynthesize = existsSync(synth);

export const SYNTH_CPUS = 8;

export interface Recording {
  file: string;
  /** In the order of time; read when asked for. */
  readonly samples: Sample[];
}

/** Compiles test/fixtures/c2c/worker.cpp. `pie`: it can run at any address. */
export function compileWorker(folder: string, { pie }: { pie: boolean }): string {
  const out = join(folder, 'worker');
  const flags = ['-O2', '-g', ...(pie ? ['-fPIE', '-pie'] : ['-fno-pie', '-no-pie'])];
  execFileSync('c++', [...flags, '-o', out, join(root, 'test/fixtures/c2c/worker.cpp')]);
  return out;
}

export interface SynthOptions {
  seed: number;
  samples: number;
  lines: number;
  binary: string;
  more?: string[];
}

export function synthesize(scenario: string, folder: string, { seed, samples, lines, binary, more = [] }: SynthOptions): Recording {
  const file = join(folder, `${scenario}-${seed}.data`);
  const list = `${file}.tsv`;
  const numbers = ['--seed', `${seed}`, '--samples', `${samples}`, '--lines', `${lines}`, '--codes', '24', '--cpus', `${SYNTH_CPUS}`];
  const { status, stderr } = spawnSync(synth, [scenario, '-o', file, '--list', list, '--binary', binary, ...numbers, ...more], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  let parsed: Sample[] | undefined;
  return {
    file,
    get samples() {
      return (parsed ??= parseList(readFileSync(list, 'utf8')));
    },
  };
}
