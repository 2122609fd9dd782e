// The text of `cacheline doctor --calibrate`: what contention costs on this machine.
import type { AccessClass, Calibration, CalibrationResult, SweepPoint } from '../../protocol/calibration';
import { withFullStop } from '../../protocol/words';
import { count, printable, wrap, type Style } from '../text/terminal-text';
import { formatTwoRowTable, type Column } from '../text/text-table';

const CLASS_MEANING: Record<AccessClass, string> = {
  load: 'Plain load, of a line that the other thread stores to',
  store: 'Plain store',
  update: 'Plain read-modify-write (an increment without a lock)',
  locked: 'Atomic update (add)',
  exchange: 'Compare-exchange, repeated until it works',
};

const NOTES: Partial<Record<AccessClass, string>> = {
  store: 'Plain stores hide in the store buffer: what they cost shows elsewhere, so only bounds are known for them.',
  update: 'In a tight loop these hide in the store buffer, too: only bounds are known for them.',
};

const COLUMNS: readonly Column[] = ['work between', 'alone', 'contended', 'ratio', 'accesses per turn'].map((title) => ({
  title,
  align: 'right',
}));

/** Lines below the heading, none wider than `width` columns. */
export function calibrationLines({ measured, file, reason }: CalibrationResult, width: number, style: Style): string[] {
  const paragraph = (text: string): string[] => wrap(printable(text), width, '  ');
  if (measured === null) return paragraph(`not known: ${withFullStop(reason)}`);
  const kept = file === null ? `It could not be saved: ${withFullStop(reason)}` : `Saved in ${file} for recordings made on this CPU model.`;
  return [
    ...paragraph(introduction(measured)),
    ...(Object.keys(CLASS_MEANING) as AccessClass[]).flatMap((name) => [
      '',
      ...paragraph(CLASS_MEANING[name]),
      ...formatTwoRowTable(COLUMNS, [], measured.classes[name].map(row), { width, indent: 2, style }),
      ...(name in NOTES ? paragraph(NOTES[name] ?? '') : []),
    ]),
    '',
    ...paragraph(kept),
  ];
}

function introduction({ cpus, seconds, slices, discarded }: Calibration): string {
  const left =
    discarded === 0
      ? `All ${count(slices)} slices of time are used.`
      : `${count(discarded)} of ${count(slices)} slices of time were discarded: a thread did not have its CPU to itself.`;
  return (
    `What contention costs here, measured in ${seconds.toFixed(1)} s. Threads on CPU ${cpus.join(' and CPU ')} repeat some work and one ` +
    `access. Times are nanoseconds per iteration: "alone" with the access on the thread’s own line, "contended" on a line that the other ` +
    `thread also uses. A turn ends when the other thread has written to the line. ${left}`
  );
}

function row({ workNs, aloneNs, contendedNs, iterationsPerChange }: SweepPoint): { text: string }[] {
  const ratio = aloneNs > 0 ? `${(contendedNs / aloneNs).toFixed(2)}x` : '-';
  const turn = iterationsPerChange === null ? 'none seen' : iterationsPerChange.toFixed(1);
  return [workNs.toFixed(1), aloneNs.toFixed(1), contendedNs.toFixed(1), ratio, turn].map((text) => ({ text }));
}
