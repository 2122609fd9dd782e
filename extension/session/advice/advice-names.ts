// Names in what advice says. Recorded names are quoted and printable.
import type { Advice, Subject } from '../../protocol/advice';
import { t } from '../../protocol/l10n';
import { quoted, typeLabel } from '../report/data-text';
import { count, enumerate, printable } from '../text/terminal-text';

/** Names of one sentence; of more the rest is counted. */
export const MAX_NAMES = 4;

/** What C++'s scopes without a name are called in debug information, and nowhere in a source. */
export const UNNAMED_SCOPE = '(anonymous namespace)::';

/** Without scopes that have no name. */
export function readable(name: string): string {
  return printable(name.replaceAll(UNNAMED_SCOPE, ''));
}

/** A recorded name in prose, without scopes that have no name. */
export function named(name: string): string {
  return quoted(name.replaceAll(UNNAMED_SCOPE, ''));
}

/** "counters (atomic_long)", "objects of session": printable. */
export function subjectText({ type, object }: Advice['subject']): string {
  if (object === '') return type === '' ? t('unnamed memory') : t('objects of {0}', readable(type));
  return type === '' || typeLabel(type, object) === object ? readable(object) : `${readable(object)} (${readable(type)})`;
}

/** A short name, quoted. */
export function subjectName({ type, object }: Advice['subject']): string {
  const name = object === '' ? type : object;
  return name === '' ? t('unnamed memory') : named(name);
}

/** "'counters'", "an array of 'Slot'". */
export function arrayName(subject: Subject): string {
  return subject.object === '' && subject.type !== '' ? t('an array of {0}', named(subject.type)) : subjectName(subject);
}

/** "'a', 'b' and 3 more". */
export function names(list: readonly string[], most = MAX_NAMES): string {
  const shown = list.length > most + 1 ? list.slice(0, most) : list;
  const more = list.length - shown.length;
  return enumerate([...shown.map(named), ...(more > 0 ? [t('{0} more', count(more))] : [])]);
}

export function memberNames(list: readonly string[]): string {
  return list.length === 0 ? '' : ` (${names(list)})`;
}
