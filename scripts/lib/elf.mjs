// What an ELF file asks of the dynamic linker: libraries, search path, symbol versions. 64-bit little-endian files only.
// Layout: System V ABI, chapters 4 and 5; version sections: LSB Core, "Symbol Versioning".
import { readFileSync } from 'node:fs';

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const DT = { NULL: 0n, NEEDED: 1n, STRTAB: 5n, SONAME: 14n, RPATH: 15n, RUNPATH: 29n, VERNEED: 0x6ffffffen, VERNEEDNUM: 0x6fffffffn };

/**
 * @returns {{soname: string|undefined, needed: string[], rpath: string|undefined, runpath: string|undefined,
 *   versions: {library: string, name: string}[]}} `versions`: every symbol version that must be there to load the file.
 */
export function readDynamic(file) {
  const bytes = readFileSync(file);
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1)
    throw new Error(`${file} is not a 64-bit little-endian ELF file`);
  const u64 = (offset) => Number(bytes.readBigUInt64LE(offset));
  const segments = Array.from({ length: bytes.readUInt16LE(56) }, (_, index) => {
    const at = u64(32) + index * bytes.readUInt16LE(54);
    return { type: bytes.readUInt32LE(at), offset: u64(at + 8), address: u64(at + 16), size: u64(at + 32) };
  });
  const offsetOf = (address) => {
    const segment = segments.find(({ type, address: start, size }) => type === PT_LOAD && address >= start && address < start + size);
    if (segment === undefined) throw new Error(`${file}: address 0x${address.toString(16)} is in no loaded segment`);
    return segment.offset + address - segment.address;
  };
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) throw new Error(`${file} has no dynamic section`);

  const entries = [];
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    const tag = bytes.readBigInt64LE(at);
    if (tag === DT.NULL) break;
    entries.push({ tag, value: u64(at + 8) });
  }
  const values = (tag) => entries.filter((entry) => entry.tag === tag).map(({ value }) => value);
  const strings = offsetOf(values(DT.STRTAB)[0]);
  const text = (index) => bytes.toString('utf8', strings + index, bytes.indexOf(0, strings + index));
  const texts = (tag) => values(tag).map(text);

  const versions = [];
  let at = values(DT.VERNEED).length > 0 ? offsetOf(values(DT.VERNEED)[0]) : 0;
  for (let left = values(DT.VERNEEDNUM)[0] ?? 0; left > 0; left--) {
    const library = text(bytes.readUInt32LE(at + 4));
    let aux = at + bytes.readUInt32LE(at + 8);
    for (let count = bytes.readUInt16LE(at + 2); count > 0; count--) {
      versions.push({ library, name: text(bytes.readUInt32LE(aux + 8)) });
      aux += bytes.readUInt32LE(aux + 12);
    }
    at += bytes.readUInt32LE(at + 12);
  }
  return { soname: texts(DT.SONAME)[0], needed: texts(DT.NEEDED), rpath: texts(DT.RPATH)[0], runpath: texts(DT.RUNPATH)[0], versions };
}

/** The newest GLIBC_x.y a file refers to, as [x, y]; [0, 0] where it refers to none. */
export function glibcFloor(file) {
  return readDynamic(file)
    .versions.map(({ name }) => /^GLIBC_(\d+)\.(\d+)/.exec(name))
    .filter((match) => match !== null)
    .map((match) => [Number(match[1]), Number(match[2])])
    .reduce((newest, version) => (isNewer(version, newest) ? version : newest), [0, 0]);
}

export function isNewer(version, than) {
  return version[0] > than[0] || (version[0] === than[0] && version[1] > than[1]);
}
