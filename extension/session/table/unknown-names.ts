// What tables call data, code and places that they do not know, for a person. The engine's own names stay in JSON and CSV.
import { UNATTRIBUTED_WORDS } from '../../protocol/blindness';
import { t } from '../../protocol/l10n';

const WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(UNATTRIBUTED_WORDS).map(([reason, words]) => [`[not attributed: ${reason}]`, t('[not attributed: {0}]', words)]),
  ),
  '[no allocation known]': t('[no allocation known]'),
  '[no function known]': t('[no function known]'),
  '[no member]': t('[no member]'),
  '[no object known]': t('[no object known]'),
  '[no source file known]': t('[no source file known]'),
  '[no source line known]': t('[no source line known]'),
  '[no type known]': t('[no type known]'),
  '[node not known]': t('[node not known]'),
  '[time not known]': t('[time not known]'),
};

/** "[not attributed: no memory access]" of the engine's "[not attributed: noMemoryOperand]"; what follows it, and every other name, as it is. */
export function unknownInWords(name: string): string {
  return name.replace(/^\[[^\]]*\]/, (unknown) => WORDS[unknown] ?? unknown);
}
