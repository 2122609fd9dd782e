// Asks the engine, in this process: the same addon that the command line loads.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { NativeEngine, type NativeAddon } from '../../../extension/engine/native';
import type { AnalyzeParams } from '../../../extension/protocol/engine';
import type { Report } from '../../../extension/protocol/report';
import { addonPath } from '../command';

export const hasAddon = existsSync(addonPath);

export function analyze(params: AnalyzeParams): Promise<Report> {
  const addon = createRequire(__filename)(addonPath) as NativeAddon;
  return new NativeEngine(addon).call('analyze', params);
}
