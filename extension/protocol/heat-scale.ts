// The five steps of heat, the same in the gutter and in the panel.

/** 1: coolest, 5: hottest. */
export type HeatStep = 1 | 2 | 3 | 4 | 5;

/** Lower bounds of steps 2 to 5, as shares of everything measured: under 2% is step 1, 30% and more is step 5. */
const HEAT_THRESHOLDS = [0.02, 0.05, 0.15, 0.3] as const;

/** @param share of everything measured in the recording, 0 to 1 */
export function heatStep(share: number): HeatStep {
  return (1 + HEAT_THRESHOLDS.filter((threshold) => share >= threshold).length) as HeatStep;
}
