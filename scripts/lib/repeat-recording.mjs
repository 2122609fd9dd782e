// A long recording out of a short one: its samples, one round after the other, each later than the one before.
import { open, readFile } from 'node:fs/promises';

const [recordExit, recordSample, recordSwitch, recordFinishedRound] = [4, 9, 14, 68];
/** The bits of perf_event_attr.sample_type that tell where the times are. */
const bit = { ip: 1n << 0n, tid: 1n << 1n, time: 1n << 2n, id: 1n << 6n, cpu: 1n << 7n, streamId: 1n << 9n, identifier: 1n << 16n };

/**
 * Samples that are of the size of most of them, and with them the context switches. All other records, of mappings for example, stand
 * once, at the start; samples of other sizes are left out, and so are the ends of threads, which now live longer.
 * @param {string} from a perf.data file of this machine's byte order
 * @param {string} to
 * @param {number} count the most samples to write
 * @returns {Promise<number>} how many there are
 */
export async function repeatRecording(from, to, count) {
  const bytes = await readFile(from);
  const [attrs, dataStart, dataSize] = [24, 40, 48].map((at) => Number(bytes.readBigUInt64LE(at)));
  const sampleType = bytes.readBigUInt64LE(attrs + 24);
  const sizeOf = (...fields) => 8 * fields.filter((field) => (sampleType & field) !== 0n).length;
  if (sizeOf(bit.time) === 0) throw new Error(`${from}: its samples have no times`);
  const timeAt = { [recordSample]: () => 8 + sizeOf(bit.identifier, bit.ip, bit.tid) };
  timeAt[recordSwitch] = (size) => size - sizeOf(bit.time, bit.id, bit.streamId, bit.cpu, bit.identifier);
  const others = [];
  const repeated = [];
  const bySize = new Map();
  for (let at = dataStart; at < dataStart + dataSize;) {
    const [type, size] = [bytes.readUInt32LE(at), bytes.readUInt16LE(at + 6)];
    const record = { type, size, bytes: bytes.subarray(at, at + size), timeAt: timeAt[type]?.(size) };
    if (type === recordSample) bySize.set(size, [...(bySize.get(size) ?? []), record]);
    else if (type === recordSwitch) repeated.push(record);
    else if (type !== recordFinishedRound && type !== recordExit) others.push(record.bytes);
    at += size;
  }
  const samples = [...bySize.values()].sort((a, b) => b.length - a.length)[0];
  const timeOf = (record) => record.bytes.readBigUInt64LE(record.timeAt);
  repeated.push(...samples);
  repeated.sort((a, b) => Number(timeOf(a) - timeOf(b)));
  const span = timeOf(repeated.at(-1)) - timeOf(repeated[0]) + 250_000n;
  const round = Buffer.concat([...repeated.map((record) => record.bytes), Buffer.from([recordFinishedRound, 0, 0, 0, 0, 0, 8, 0])]);
  const times = [];
  for (let at = 0, number = 0; number < repeated.length; at += repeated[number++].size) times.push(at + repeated[number].timeAt);
  const rounds = Math.floor(count / samples.length);
  const file = await open(to, 'w');
  try {
    const start = Buffer.concat([bytes.subarray(0, dataStart), ...others]);
    const grown = BigInt(start.length + rounds * round.length - dataStart);
    start.writeBigUInt64LE(grown, 48);
    await file.write(start);
    for (let number = 0; number < rounds; number++) {
      await file.write(round);
      for (const at of times) round.writeBigUInt64LE(round.readBigUInt64LE(at) + span, at);
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
