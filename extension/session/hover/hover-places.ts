// The hovers of a line of a document: of the variables that are defined there, and of the code that stands there.
import { t } from '../../protocol/l10n';
import type { Measure } from '../../protocol/measure';
import type { CacheLine, SourcePlace } from '../../protocol/report';
import { isAt, standsAt, type LineAccess } from '../profile/heat';
import type { VerdictLink } from './hover-parts';
import { definitionHoverText, lineHoverText } from './hover-text';
import type { ShownProfile } from '../profile/shown-profile';
import { count } from '../text/terminal-text';

/**
 * @param places of the profile that are on the line
 * @returns Markdown; empty where nothing there takes part in contention
 */
export async function hoverTextsAt(
  profile: ShownProfile,
  places: readonly SourcePlace[],
  measure: Measure,
  link: VerdictLink,
): Promise<string[]> {
  const { report, code, definitions } = profile;
  const known = places.filter(({ file, line }) => code.get(file)?.has(line) || definitions.get(file)?.has(line));
  const asked = await Promise.all(known.map(async (place) => ({ place, found: await profile.lines({ place }, measure) })));
  const defined = new Map<string, LineAccess[]>();
  const accesses: LineAccess[] = [];
  const lines = new Map<string, CacheLine>(); // the same line comes with each place
  const seen = new Set<LineAccess['access']>();
  for (const { place, found } of asked) {
    for (const answered of found.lines) {
      const key = JSON.stringify([answered.space, answered.address]);
      const cacheLine = lines.get(key) ?? answered;
      lines.set(key, cacheLine);
      for (const access of cacheLine.accesses) {
        if (!isAt(access, place)) continue;
        const { definition, object } = access.data;
        if (definition?.file === place.file && definition.line === place.line)
          defined.set(object, [...(defined.get(object) ?? []), { cacheLine, access }]);
        if (!standsAt(access, place) || seen.has(access)) continue;
        seen.add(access);
        accesses.push({ cacheLine, access });
      }
    }
  }
  const texts = [
    ...[...defined].map(([object, own]) => definitionHoverText(report, object, own, measure, link)),
    lineHoverText(report, accesses, measure, link),
  ].filter((text) => text !== '');
  const left = asked.find(({ found }) => found.total > found.lines.length)?.found;
  if (texts.length > 0 && left)
    texts.push(t('The numbers are for the {0} cache lines that measured most, out of {1}.', count(left.lines.length), count(left.total)));
  return texts;
}
