// A report as a profile of pprof (github.com/google/pprof, proto/profile.proto): contended samples with the data as innermost frames.
import { gzipSync } from 'node:zlib';
import { Function as PprofFunction, Label, Line, Location, Mapping, Profile, Sample, StringTable, ValueType } from 'pprof-format';
import type { Access, CacheLine, InlineFrame, Report } from '../../protocol/report';
import { withoutAddress } from '../compare/sums';
import { printable } from '../text/terminal-text';

export interface PprofSource {
  /** Without its lines. */
  report: Report;
  lines: Iterable<CacheLine>;
  /** The time that a contended sample stands for; null: this evidence does not tell, and there is no sample type of time. */
  nsPerSample: number | null;
}

/** @returns the gzip'ed profile. pprof refuses a profile with two sample types of one name: the time has one of its own. */
export function pprofProfile({ report, lines, nsPerSample }: PprofSource): Uint8Array {
  const builder = new Builder(report, nsPerSample);
  for (const line of lines) for (const access of line.accesses) builder.add(line, access);
  return gzipSync(builder.profile().encode());
}

/** One frame of a stack; with several functions the inlined ones first. */
interface Frame {
  functions: InlineFrame[];
  /** Base name of the binary. */
  binary: string;
}

class Builder {
  private readonly strings = new StringTable();
  private readonly functions = new Map<string, PprofFunction>();
  private readonly locations = new Map<string, Location>();
  private readonly mappings = new Map<string, Mapping>();
  private readonly samples = new Map<string, { locations: number[]; labels: Label[]; count: number }>();

  constructor(
    private readonly report: Report,
    private readonly nsPerSample: number | null,
  ) {
    // The first mapping is the program's own, by pprof's convention.
    const program = report.recording?.command[0]?.split('/').at(-1) ?? '';
    if (report.binaries.some(({ path }) => baseName(path) === program)) this.mapping(program);
  }

  add(line: CacheLine, access: Access): void {
    if (access.contended === 0) return;
    const own = [...dataFrames(access), codeFrame(access)];
    const labels = { verdict: line.verdict, access: accessKind(access) };
    const chains = access.callers ?? [];
    const parts = shared(
      access.contended,
      chains.map(({ records }) => records),
      access.records,
    );
    for (const [i, contended] of parts.entries()) {
      const callers = (chains[i]?.frames ?? []).map((frame): Frame => codeFrame(frame));
      if (contended > 0) this.addStack([...own, ...callers], labels, contended);
    }
  }

  profile(): Profile {
    const { recording, seconds } = this.report;
    const type = (name: string, unit: string): ValueType =>
      new ValueType({ type: this.strings.dedup(name), unit: this.strings.dedup(unit) });
    const started = recording === null ? 0n : BigInt(Date.parse(recording.startedAt)) * 1_000_000n;
    const timed = this.nsPerSample;
    return new Profile({
      stringTable: this.strings,
      sampleType: [type('contended', 'count'), ...(timed === null ? [] : [type('contended_time', 'nanoseconds')])],
      defaultSampleType: this.strings.dedup('contended'),
      sample: [...this.samples.values()].map(
        ({ locations, labels, count }) =>
          new Sample({ locationId: locations, label: labels, value: [count, ...(timed === null ? [] : [Math.round(count * timed)])] }),
      ),
      mapping: [...this.mappings.values()],
      location: [...this.locations.values()],
      function: [...this.functions.values()],
      timeNanos: started,
      durationNanos: BigInt(Math.round(seconds * 1e9)),
      periodType: timed === null ? type('contended', 'count') : type('cpu', 'nanoseconds'),
      period: Math.max(1, Math.round(timed ?? 1)),
      comment: this.report.warnings.map((text) => this.strings.dedup(printable(text))),
    });
  }

  private addStack(stack: readonly Frame[], labels: Record<string, string>, count: number): void {
    const locations = stack.map((frame) => this.location(frame));
    const key = JSON.stringify([locations, labels]);
    const known = this.samples.get(key);
    if (known !== undefined) {
      known.count += count;
      return;
    }
    const made = Object.entries(labels).map(([name, text]) => new Label({ key: this.strings.dedup(name), str: this.strings.dedup(text) }));
    this.samples.set(key, { locations, labels: made, count });
  }

  /** Without an address: frames with the same functions and lines are one. */
  private location({ functions, binary }: Frame): number {
    const key = JSON.stringify([functions, binary]);
    let location = this.locations.get(key);
    if (location === undefined) {
      const line = functions.map((one) => new Line({ functionId: this.functionOf(one), line: one.line }));
      location = new Location({ id: this.locations.size + 1, mappingId: this.mapping(binary), line });
      this.locations.set(key, location);
    }
    return Number(location.id);
  }

  private functionOf({ function: name, file }: InlineFrame): number {
    const key = JSON.stringify([name, file]);
    let made = this.functions.get(key);
    if (made === undefined) {
      const text = this.strings.dedup(printable(name === '' ? '[unknown]' : name));
      made = new PprofFunction({
        id: this.functions.size + 1,
        name: text,
        systemName: text,
        filename: this.strings.dedup(printable(file)),
      });
      this.functions.set(key, made);
    }
    return Number(made.id);
  }

  private mapping(binary: string): number {
    let mapping = this.mappings.get(binary);
    if (mapping === undefined) {
      const known = this.report.binaries.find(({ path }) => baseName(path) === binary);
      mapping = new Mapping({
        id: this.mappings.size + 1,
        filename: this.strings.dedup(printable(known?.path ?? binary)),
        buildId: this.strings.dedup(known?.buildId ?? ''),
        hasFunctions: true,
        hasFilenames: true,
        hasLineNumbers: true,
        hasInlineFrames: true,
      });
      this.mappings.set(binary, mapping);
    }
    return Number(mapping.id);
  }
}

/** The member, then its type, of which both are functions to pprof; of data without a known type the object. */
function dataFrames({ data, object }: Access): Frame[] {
  const { file = '', line = 0 } = data.definition ?? {};
  const type = (data.type ?? '').replace(/(\s*\[\d*\])+$/, '');
  const field = (data.field ?? '').replace(/\[[^\]]*\]/g, '[]');
  const name = data.object === '' ? '[no object known]' : withoutAddress(data.object);
  const named = type === '' ? [name] : [field === '' ? name : `${type}.${field}`, type];
  return named.map((one) => ({ functions: [{ function: one, file, line }], binary: object }));
}

function codeFrame({ symbol, object, file, line, inlined }: Pick<Access, 'symbol' | 'object' | 'file' | 'line' | 'inlined'>): Frame {
  return { functions: inlined.length === 0 ? [{ function: symbol, file, line }] : inlined, binary: object };
}

function accessKind({ loads, stores }: Access): string {
  if (stores.total === 0) return 'read';
  return loads === 0 ? 'write' : 'read and write';
}

/** So many, in proportion to the weights; a last part is for what of `whole` has no weight. By largest remainder, so that nothing is lost. */
function shared(total: number, weights: readonly number[], whole: number): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const all = [...weights, Math.max(0, whole - sum, sum === 0 ? 1 : 0)];
  const scale = total / all.reduce((one, other) => one + other, 0);
  const parts = all.map((weight) => Math.floor(weight * scale));
  let rest = total - parts.reduce((one, other) => one + other, 0);
  const order = all
    .map((weight, i) => ({ i, remainder: weight * scale - (parts[i] ?? 0) }))
    .sort((x, y) => y.remainder - x.remainder || x.i - y.i);
  for (const { i } of order) {
    if (rest <= 0) break;
    parts[i] = (parts[i] ?? 0) + 1;
    --rest;
  }
  return parts;
}

function baseName(path: string): string {
  return path.split('/').at(-1) ?? path;
}
