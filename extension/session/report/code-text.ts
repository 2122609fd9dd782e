// Code in prose: its function and source line.
import { t } from '../../protocol/l10n';
import type { TextPart } from '../../protocol/panel';
import type { Access } from '../../protocol/report';
import { quoted } from './data-text';
import { ownPlace, shortPlace } from '../lines/source-path';
import { printable } from '../text/terminal-text';

type Code = Pick<Access, 'codeAddress' | 'symbol' | 'object' | 'file' | 'line' | 'inlined'>;

/** "'Worker::run()' (worker.cpp:12)". */
export function codeText(access: Code): string {
  const place = ownPlace(access);
  const where =
    place === undefined
      ? t('at {0} in {1}', access.codeAddress, printable(access.object) || t('unknown code'))
      : `(${printable(shortPlace(place))})`;
  return access.symbol === '' ? t('the code {0}', where) : `${quoted(access.symbol)} ${where}`;
}

/** The same, with its place where that has a line. */
export function codePart(access: Code): TextPart {
  const place = ownPlace(access);
  const text = codeText(access);
  return place !== undefined && place.line > 0 ? { text, place } : text;
}

export function joinParts(parts: readonly TextPart[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}
