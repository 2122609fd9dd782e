// What the steps of a trace cost, by the samples of another recording: traps would spoil those of the trace's own.
import type { TableRow } from '../../protocol/table';
import type { Trace, TraceStep } from '../../protocol/trace';

/** @param rows by type, function and member, of a recording of `samples` samples */
export function withCosts(trace: Trace, rows: readonly TableRow[], samples: number): Trace {
  const own = rows.filter(({ key }) => key.type === trace.type);
  if (own.length === 0) return { ...trace, costReason: `the samples have none at objects of the type ${trace.type}` };
  const costOf = ({ function: name, members, access }: TraceStep): number | null =>
    access === 'unknown'
      ? null
      : own
          .filter(({ key }) => key.function === name && members.includes(key.member ?? ''))
          .reduce((sum, { reads, writes }) => sum + (access === 'write' ? 0 : reads) + (access === 'read' ? 0 : writes), 0) / samples;
  return {
    ...trace,
    costReason: null,
    paths: trace.paths.map((path) => ({ ...path, steps: path.steps.map((step) => ({ ...step, cost: costOf(step) })) })),
  };
}
