// Rows of the panel's table, looked up by what the page says of them.
import { t } from '../../protocol/l10n';
import { EngineError } from '../../protocol/engine';
import { nameTerm } from '../../protocol/filter';
import type { RowId } from '../../protocol/panel-rows';
import type { Access, CacheLine, SourcePlace } from '../../protocol/report';
import { cardOfAccess, type TypeCard } from '../layout/type-heat';
import { ownPlace } from '../lines/source-path';
import { weight } from '../report/sharing-facts';
import type { ShownProfile } from './shown-profile';

export interface FoundRow {
  line: CacheLine;
  /** Of an access's row. */
  access: Access | undefined;
  /** What the row stands for, the costliest first. */
  accesses: readonly Access[];
}

/** Rejects with EngineError, also where the filter leaves no such line, and where the line has no such access. */
export async function findRow(profile: ShownProfile, { line: id, access: index }: Omit<RowId, 'version'>): Promise<FoundRow> {
  const { line } = await profile.line(id);
  if (index === undefined) {
    return { line, access: undefined, accesses: [...line.accesses].sort((a, b) => weight(b, line) - weight(a, line)) };
  }
  const access = line.accesses[index];
  if (!access) throw new EngineError('usage', t('There is no access {0} of line {1}.', index, id), t('Open the menu again.'));
  return { line, access, accesses: [access] };
}

/** Of the costliest access that has one. */
export function sourceOf({ accesses }: FoundRow): SourcePlace | undefined {
  return accesses.map(ownPlace).find((place) => place !== undefined && place.line > 0);
}

/** Of the costliest access to data of a type with a known definition. */
export function cardOf({ accesses }: FoundRow, profile: ShownProfile): TypeCard | undefined {
  return accesses
    .map((access) => cardOfAccess(profile.cardsOf(access.data.type ?? ''), access))
    .find((card) => card !== undefined && card.layout.file !== '' && card.layout.line > 0);
}

/** The term of a filter that selects the row: of an access its function, else the line. */
export function termOf({ line, access }: FoundRow): string {
  return access && access.symbol !== '' ? nameTerm('function:', access.symbol) : `line:${line.address}`;
}
