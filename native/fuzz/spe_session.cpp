// libFuzzer over SPE data: any AUXTRACE_INFO, any AUX bytes in any pieces. Whatever they are, every byte is
// consumed once and accounted for, records stay within their bytes, and only readInfo may say Error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "spe/session.h"

using namespace cacheline;
using namespace cacheline::spe;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void decode(std::span<const uint8_t> bytes, uint64_t auxOffset) {
  SpeBuffer buffer(bytes, auxOffset);
  SpeRecord record;
  size_t last = 0, records = 0;
  while (buffer.next(record)) {
    require(record.parts != 0);
    require(record.position >= last && record.position < buffer.position());
    require(buffer.position() > last && buffer.position() <= bytes.size());
    last = buffer.position();
    ++records;
    if (record.operation.accessesMemory()) {
      for (const SourceMeaning meaning :
           {SourceMeaning::events, SourceMeaning::arm, SourceMeaning::ampereOne, SourceMeaning::hisilicon})
        require(dataSourceWord(record, meaning) != 0);
    }
  }
  const DecodeCounts& counts = buffer.counts();
  require(buffer.position() == bytes.size());
  require(counts.records == records && counts.records <= counts.packets);
  require(counts.packets + counts.badBytes <= bytes.size());
  require(counts.truncatedRecords <= 1 && counts.truncatedBytes <= bytes.size());
  require((counts.badBytes == 0) == (buffer.firstBad() == bytes.size()));
  require(!buffer.next(record));
}

SpeInfo infoOf(std::span<const uint8_t> bytes) {
  std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint64_t));
  try {
    return readInfo(words, 0);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::unreadable);
    return {};
  }
}

}  // namespace

/// Input: 1 byte with the size of the information in words, 1 byte for flags, the information, then AUX
/// bytes, which go to three queues in pieces of different sizes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t flags = data[1];
  std::span<const uint8_t> rest(data + 2, size - 2);
  const size_t infoBytes = std::min<size_t>(rest.size(), size_t{data[0] % 32u} * sizeof(uint64_t));
  const SpeInfo info = infoOf(rest.first(infoBytes));
  rest = rest.subspan(infoBytes);
  decode(rest, flags);

  SpeOptions options{.midr = 0x410fd0c0, .time = {}};
  if ((flags & 1) != 0)
    options.time = TimeConversion{.shift = flags % 33u, .mult = 40960, .cycles = 77, .mask = 0xffffff};
  SpeSession session(info, options);
  uint64_t offset = 0, chunks = 0;
  while (!rest.empty()) {
    const size_t piece = std::min<size_t>(rest.size(), 1 + (offset * 7 + flags) % 64);
    const int32_t queue = static_cast<int32_t>(offset % 3);
    session.addChunk(
        {.cpu = queue == 2 ? -1 : queue, .tid = queue, .offset = offset, .bytes = rest.first(piece)});
    session.addAux({.cpu = queue, .tid = queue, .time = offset, .offset = offset, .size = piece});
    session.addSwitch({.time = offset * 40, .cpu = queue, .pid = 1, .tid = static_cast<int32_t>(offset)});
    rest = rest.subspan(piece);
    offset += piece;
    ++chunks;
  }
  SpeSample sample;
  uint64_t samples = 0;
  while (session.next(sample)) {
    require(sample.dataSource != 0);
    ++samples;
  }
  const SpeCounts& counts = session.counts();
  require(counts.samples == samples && counts.chunks == chunks && counts.bytes == offset);
  require(counts.samples + counts.otherOperations == counts.decode.records);
  const bool faultless = session.warnings().empty();
  require(!faultless || counts.decode.badBytes == 0);
  return 0;
}
