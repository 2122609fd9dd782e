// Calibrations for tests, with times as a machine measures them.
import type { AccessClass, Calibration, SweepPoint } from '../../extension/protocol/calibration';

export const CLASSES: readonly AccessClass[] = ['load', 'store', 'update', 'locked', 'exchange'];

/** Each class costs `alone` ns by itself and `contended` ns against another thread, whatever the work between. */
export function calibration(changes: Partial<Calibration> = {}): Calibration {
  const points = (alone: number, contended: number): SweepPoint[] =>
    [0.5, 20.25, 1984.125].map((workNs, i) => ({
      workNs,
      aloneNs: workNs + alone,
      contendedNs: workNs + contended,
      iterationsPerChange: i === 2 ? null : 21.25 / (i + 1),
      spread: 0.01 * i,
    }));
  return {
    schema: 'cacheline-calibration/1',
    cpuModel: 'Example CPU 7 @ 3.00GHz',
    cpuId: 'Example-6-7-8',
    cpus: [0, 12],
    seconds: 0.512,
    date: '2026-01-02T03:04:05.678Z',
    classes: {
      load: points(2, 91),
      store: points(0, 0),
      update: points(1, 60),
      locked: points(5, 98),
      exchange: points(8.5, 100),
    },
    slices: 2080,
    discarded: 66,
    ...changes,
  };
}
