// A long recording out of a short one: its samples, one round after the other, each later than the one before.
import { open, readFile } from 'node:fs/promises';

const recordSample = 9;
const recordFinishedRound = 68;
const [identifier, ip, tid, time] = [1n << 16n, 1n, 2n, 4n];

/**
 * Of samples that carry a time and are mostly of one size; the others are left out. Other records stay as they are.
 * @param {string} from a perf.data file of this machine's byte order
 * @param {string} to
 * @param {number} count the most samples to write
 * @returns {Promise<number>} how many there are
 */
export async function repeatRecording(from, to, count) {
  const bytes = await readFile(from);
  const [attrs, dataStart, dataSize] = [24, 40, 48].map((at) => Number(bytes.readBigUInt64LE(at)));
  const sampleType = bytes.readBigUInt64LE(attrs + 24);
  const timeAt = 8 + [identifier, ip, tid].reduce((sum, field) => sum + ((sampleType & field) === 0n ? 0 : 8), 0);
  if ((sampleType & time) === 0n) throw new Error(`${from}: its samples have no times`);
  const others = [];
  const bySize = new Map();
  for (let at = dataStart; at < dataStart + dataSize;) {
    const [type, size] = [bytes.readUInt32LE(at), bytes.readUInt16LE(at + 6)];
    const record = bytes.subarray(at, at + size);
    if (type === recordSample) bySize.set(size, [...(bySize.get(size) ?? []), record]);
    else if (bySize.size === 0) others.push(record);
    at += size;
  }
  const timeOf = (record) => record.readBigUInt64LE(timeAt);
  const samples = [...bySize.values()].sort((a, b) => b.length - a.length)[0].sort((a, b) => Number(timeOf(a) - timeOf(b)));
  const size = samples[0].length;
  const span = timeOf(samples.at(-1)) - timeOf(samples[0]) + 250_000n;
  const round = Buffer.concat([...samples, Buffer.from([recordFinishedRound, 0, 0, 0, 0, 0, 8, 0])]);
  const rounds = Math.floor(count / samples.length);
  const file = await open(to, 'w');
  try {
    const start = Buffer.concat([bytes.subarray(0, dataStart), ...others]);
    const grown = BigInt(start.length + rounds * round.length - dataStart);
    start.writeBigUInt64LE(grown, 48);
    await file.write(start);
    for (let number = 0; number < rounds; number++) {
      await file.write(round);
      for (let at = timeAt; at < samples.length * size; at += size) round.writeBigUInt64LE(round.readBigUInt64LE(at) + span, at);
    }
    await file.write(featuresAt(bytes, dataStart + dataSize, BigInt(dataStart) + grown));
  } finally {
    await file.close();
  }
  return rounds * samples.length;
}

/** What stands behind the data, moved to another place. */
function featuresAt(bytes, from, to) {
  const moved = Buffer.from(bytes.subarray(from));
  let sections = 0;
  for (let at = 72; at < 104; at += 8) sections += bytes.readBigUInt64LE(at).toString(2).replaceAll('0', '').length;
  for (let section = 0; section < sections; section++)
    moved.writeBigUInt64LE(moved.readBigUInt64LE(section * 16) + to - BigInt(from), section * 16);
  return moved;
}
