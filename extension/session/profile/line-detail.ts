// A line in full, for the page: what the report says of it in words, what lies on its bytes, and who called its code.
import { confirmationText } from '../../protocol/confirmation';
import type { AccessDetail, LineDetail } from '../../protocol/panel-detail';
import type { Access, CacheLine } from '../../protocol/report';
import { VERDICT_MEANING } from '../../protocol/words';
import { cardOfAccess } from '../layout/type-heat';
import { linePieces } from '../layout/line-pieces';
import { shortPlace } from '../lines/source-path';
import { chainFunctions } from '../report/callers-text';
import { addressOf, dataText, howKnown, withoutMembers } from '../report/data-text';
import { waitsText } from '../report/remedies';
import { verdictText } from '../report/verdict-text';
import { cardOf, findRow, sourceOf } from './profile-rows';
import type { ShownProfile } from './shown-profile';

/** Rejects with EngineError, also where the filter leaves no such line. */
export async function lineDetail(profile: ShownProfile, id: string): Promise<LineDetail> {
  const [row] = await Promise.all([findRow(profile, { line: id }), profile.complete()]);
  const { lineSize, doubleLine } = profile.report;
  const size = doubleLine === true ? 2 * lineSize : lineSize;
  const { line } = row;
  const reasons = [VERDICT_MEANING[line.verdict], waitsText(line), confirmationText(line), ...howKnown(line), ...withoutMembers(line)];
  return {
    id,
    line: { ...line, accesses: line.accesses.map(withoutCallers) },
    size,
    verdict: verdictText(line),
    reasons: reasons.filter((text) => text !== ''),
    accesses: line.accesses.map((access) => accessDetail(line, access)),
    ...linePieces(line, size, (access) => cardOfAccess(profile.cardsOf(access.data.type ?? ''), access)),
    hasSource: sourceOf(row) !== undefined,
    hasCard: cardOf(row, profile) !== undefined,
  };
}

function accessDetail(line: CacheLine, access: Access): AccessDetail {
  const { data, inlined, callers = [] } = access;
  return {
    name: dataText(data, () => addressOf(line, access)),
    inlined: inlined.map((frame) => (frame.file === '' ? frame.function : `${frame.function} (${shortPlace(frame)})`)),
    chains: callers.map(({ records, frames }) => ({ records, functions: chainFunctions(frames) })),
  };
}

/** The page has the call chains of what it details, as texts. */
export function withoutCallers(access: Access): Access {
  const plain = { ...access };
  delete plain.callers;
  return plain;
}
