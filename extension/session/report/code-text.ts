// Code in prose: its function and source line.
import type { Access } from '../../protocol/report';
import { quoted } from './data-text';
import { ownFunction, ownPlace, shortPlace } from '../lines/source-path';
import { printable } from '../text/terminal-text';

/** "'Worker::run()' (worker.cpp:12)". */
export function codeText(access: Pick<Access, 'codeAddress' | 'symbol' | 'object' | 'file' | 'line' | 'inlined'>): string {
  const place = ownPlace(access);
  const where =
    place === undefined ? `at ${access.codeAddress} in ${printable(access.object) || 'unknown code'}` : `(${printable(shortPlace(place))})`;
  return access.symbol === '' ? `the code ${where}` : `${quoted(ownFunction(access))} ${where}`;
}
