// Made-up values of `cacheline trace`: packets that go through two queues, and what is untrusted or unusual.
import type { TableRow } from '../../extension/protocol/table';
import type { Trace, TraceStep } from '../../extension/protocol/trace';
import { withCosts } from '../../extension/session/trace/trace-costs';
import { tableRow } from './table-builder';

function step(name: string, access: TraceStep['access'], members: string[], ns: number, place = 0, cpuChanged = false): TraceStep {
  return { function: name, members, place, cpuChanged, access, repeated: name === 'poll', sinceAllocNs: ns, cost: null };
}

/** Most packets are sent by the CPU that made them; some get lost, and one was accessed without end. */
export function packets(): Trace {
  const made = [step('make_packet', 'write', ['number', 'length'], 310)];
  const routed = [
    ...made,
    step('route_packet', 'read', ['number', 'length'], 52_400, 1, true),
    step('route_packet', 'write', ['route', 'checksum'], 61_250, 1),
  ];
  return {
    schema: 'cacheline-trace/1',
    type: 'packet',
    member: null,
    instances: 212,
    truncated: 1,
    accesses: 1483,
    overhead: 0.0184,
    costReason: 'no recording of samples is given (--costs)',
    paths: [
      {
        count: 200,
        truncated: false,
        allocatedIn: 'make_packet',
        freed: { function: 'send_packet', place: 0, cpuChanged: false, sinceAllocNs: 1_234_567 },
        steps: [...routed, step('send_packet', 'read', ['checksum', 'route'], 1_200_000, 0, true)],
        moreSteps: 0,
      },
      {
        count: 11,
        truncated: false,
        allocatedIn: 'make_packet',
        freed: null,
        steps: made,
        moreSteps: 0,
      },
      {
        count: 1,
        truncated: true,
        allocatedIn: 'make_packet',
        freed: null,
        steps: [...routed, step('poll', 'read-write', ['route'], 2_500_000_000, 2, true), step('(unknown)', 'unknown', ['next'], 3e9, 2)],
        moreSteps: 12,
      },
    ],
    warnings: [],
  };
}

/** With the samples of a recording: of `number`, `length` and what is no packet's. */
export function costedPackets(): Trace {
  const row = (type: string, name: string, member: string, reads: number, writes: number): TableRow =>
    tableRow({ key: { type, function: name, member }, samples: reads + writes, reads, writes });
  return withCosts(
    packets(),
    [
      row('packet', 'make_packet', 'number', 5, 20),
      row('packet', 'make_packet', 'length', 0, 10),
      row('packet', 'make_packet', 'route', 0, 40),
      row('packet', 'route_packet', 'number', 100, 0),
      row('packet', 'poll', 'route', 30, 20),
      row('other', 'make_packet', 'number', 0, 300),
    ],
    1000,
  );
}

/** Names that nobody vouches for. */
export function hostileTrace(): Trace {
  const trace = packets();
  const evil = '<script>alert("1")</script>&\u001b[2J';
  trace.type = evil;
  trace.member = `${evil}.x`;
  trace.warnings = [`${evil} cannot be read.`];
  for (const path of trace.paths) {
    path.allocatedIn = evil.repeat(8);
    for (const one of path.steps) {
      one.function = evil;
      one.members = Array.from({ length: 40 }, (_, i) => `${evil}${i}`);
    }
  }
  return trace;
}

/** A variable in windows of time. */
export function variable(): Trace {
  const { paths, ...trace } = packets();
  const [first] = paths;
  return { ...trace, overhead: null, truncated: 0, paths: [{ ...first!, count: 212, allocatedIn: null, freed: null }] };
}

/** The program had none. */
export function noObjects(): Trace {
  return { ...packets(), instances: 0, truncated: 0, accesses: 0, overhead: 0, paths: [] };
}
