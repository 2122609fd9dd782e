// What lies on the bytes of one cache line: the members of the objects that were accessed there, also those that nobody accessed.
import type { LinePiece } from '../../protocol/panel-detail';
import type { Access, CacheLine } from '../../protocol/report';
import { memoryName } from '../../protocol/stack-owner';
import { addressOf, dataText } from '../report/data-text';
import { piecesOnLine, stack, type Piece } from './layout-card-rows';
import type { TypeCard } from './type-heat';

interface NamedPiece extends Piece {
  name: string;
  of: string;
}

/**
 * In the order of bytes; `hidden`: members on the same bytes as others that have no room.
 * @param size bytes of the line
 * @param cardOf the type of the object that an access is to
 */
export function linePieces(
  line: CacheLine,
  size: number,
  cardOf: (access: Access) => TypeCard | undefined,
): { pieces: LinePiece[]; hidden: number } {
  const pieces: NamedPiece[] = [];
  const drawn = new Set<string>();
  const others: Access[] = [];
  for (const access of line.accesses) {
    const card = cardOf(access);
    const object = card && instanceOf(card, line, access, size);
    if (!card || !object) others.push(access);
    else if (!drawn.has(object.key)) {
      drawn.add(object.key);
      for (const piece of piecesOnLine(card, object.index, object.phase, size))
        pieces.push({ ...piece, name: piece.member === undefined ? '' : object.prefix + piece.member.name, of: ownerOf(access) });
    }
  }
  const covered = pieces.filter(({ kind }) => kind === 'member');
  for (const access of others) {
    const [start, end] = [access.offset, Math.min(size, access.offset + Math.max(1, access.width))];
    const name = dataText(access.data, () => addressOf(line, access));
    const key = `${start} ${end} ${name}`;
    if (drawn.has(key) || covered.some((piece) => piece.start < end && start < piece.end)) continue;
    drawn.add(key);
    const place = { start, end, cutLeft: false, cutRight: false, track: 0, tracks: 1 };
    pieces.push({ kind: 'member', ...place, name, of: ownerOf(access), member: undefined, use: undefined });
  }
  const { pieces: stacked, hidden } = stack(pieces, 'contended');
  return { pieces: stacked.map(sentPiece), hidden };
}

function sentPiece({ kind, start, end, name, of, cutLeft, cutRight, track, tracks }: NamedPiece): LinePiece {
  return { kind, start, end, name, of, cutLeft, cutRight, track, tracks };
}

function ownerOf({ data }: Access): string {
  return data.how === 'global' || (data.type ?? '') === '' ? memoryName(data) : (data.type ?? '');
}

interface Instance {
  key: string;
  /** Of the line, counted from the one that the object begins on, and the byte of that one. */
  index: number;
  phase: number;
  /** "[2]." of an array's element. */
  prefix: string;
}

/** Undefined: it is not known where the object begins, or it does not reach this line. */
function instanceOf({ layout }: TypeCard, line: CacheLine, access: Access, size: number): Instance | undefined {
  const { base, index } = access.data;
  if (typeof base !== 'string' || layout.size <= 0) return undefined;
  const inObject = Number(addressOf(line, access) - BigInt(base));
  if (!Number.isSafeInteger(inObject) || inObject < 0) return undefined;
  const element = Math.floor(inObject / layout.size);
  const start = access.offset - (inObject % layout.size); // in bytes from the line's start
  const phase = ((start % size) + size) % size;
  const prefix = (index ?? null) !== null && index === element ? `[${element}].` : '';
  return { key: `${base} ${element} ${layout.name}`, index: (phase - start) / size, phase, prefix };
}
