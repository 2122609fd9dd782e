// Turns one record of the data section into a call of the visitor.
#include "perfdata/record_parser.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "perfdata/bytes.h"
#include "perfdata/format.h"

namespace cacheline::perfdata {
namespace {

/// The record's last field: a string that a NUL ends, or the end of the body.
std::string_view textOf(const uint8_t* at, const uint8_t* end) {
  const auto* text = reinterpret_cast<const char*>(at);
  return {text, ::strnlen(text, static_cast<size_t>(end - at))};
}

bool isKernel(uint16_t misc) {
  const int mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
  return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
}

Mmap parseMmap(const uint8_t* body, const uint8_t* end, uint16_t misc) {
  Mmap map;
  map.pid = load<uint32_t>(body);
  map.tid = load<uint32_t>(body + 4);
  map.address = load<uint64_t>(body + 8);
  map.length = load<uint64_t>(body + 16);
  map.pageOffset = load<uint64_t>(body + 24);
  map.data = (misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
  map.kernel = isKernel(misc);
  // The record does not say; the kernel writes it for executable mappings, and for others where mmap_data
  // asks for them.
  map.protection = map.data ? 0 : PROT_EXEC;
  map.file = textOf(body + 32, end);
  return map;
}

Mmap parseMmap2(const uint8_t* body, const uint8_t* end, uint16_t misc) {
  Mmap map = parseMmap(body, end, misc);
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
    map.buildId = hexDigits({body + 36, std::min<size_t>(body[32], kMaxBuildIdBytes)});
  } else {
    map.major = load<uint32_t>(body + 32);
    map.minor = load<uint32_t>(body + 36);
    map.inode = load<uint64_t>(body + 40);
    map.inodeGeneration = load<uint64_t>(body + 48);
  }
  map.protection = load<uint32_t>(body + 56);
  map.flags = load<uint32_t>(body + 60);
  map.file = textOf(body + 64, end);
  return map;
}

Task parseTask(const uint8_t* body) {
  Task task;
  task.pid = load<uint32_t>(body);
  task.parentPid = load<uint32_t>(body + 4);
  task.tid = load<uint32_t>(body + 8);
  task.parentTid = load<uint32_t>(body + 12);
  task.time = load<uint64_t>(body + 16);
  return task;
}

/// The smallest body of a record that is no sample, without its sample_id trailer.
size_t smallestBody(uint32_t type) {
  switch (type) {
    case PERF_RECORD_MMAP:
      return 32;
    case PERF_RECORD_MMAP2:
      return 64;
    case PERF_RECORD_COMM:
      return 8;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      return 24;
    case PERF_RECORD_LOST:
      return 16;
    default:
      return 8;  // LOST_SAMPLES
  }
}

}  // namespace

Parsed RecordParser::deliver(const uint8_t* record) {
  const auto header = load<perf_event_header>(record);
  const uint8_t* body = record + sizeof header;
  const uint8_t* end = record + header.size;
  if (header.type == PERF_RECORD_SAMPLE) return deliverSample(body, end, header.misc);

  const SampleLayouts::Trailer trailer = layouts_.trailerOf(body, end);
  end -= trailer.size;
  if (static_cast<size_t>(end - body) < smallestBody(header.type)) return Parsed::malformed;
  switch (header.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: {
      Mmap map = header.type == PERF_RECORD_MMAP ? parseMmap(body, end, header.misc)
                                                 : parseMmap2(body, end, header.misc);
      map.time = trailer.time;
      visitor_.onMmap(map);
      break;
    }
    case PERF_RECORD_COMM: {
      const bool exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
      visitor_.onComm(
          {load<uint32_t>(body), load<uint32_t>(body + 4), trailer.time, exec, textOf(body + 8, end)});
      break;
    }
    case PERF_RECORD_FORK:
      visitor_.onFork(parseTask(body));
      break;
    case PERF_RECORD_EXIT:
      visitor_.onExit(parseTask(body));
      break;
    case PERF_RECORD_LOST:
      visitor_.onLost({load<uint64_t>(body + 8), trailer.time});
      break;
    case PERF_RECORD_LOST_SAMPLES:
      visitor_.onLost({load<uint64_t>(body), trailer.time});
      break;
    default:
      break;
  }
  return Parsed::delivered;
}

Parsed RecordParser::deliverSample(const uint8_t* body, const uint8_t* end, uint16_t misc) {
  const uint32_t event = layouts_.eventOf(body, end);
  if (event == SampleLayouts::kUnknownEvent) return Parsed::unknownEvent;
  if (event != sample_.event) {
    sample_ = Sample{};
    sample_.event = static_cast<uint16_t>(event);
  }
  sample_.misc = misc;
  if (!layouts_[event].parse(body, end, sample_, aligned_)) return Parsed::malformed;
  visitor_.onSample(sample_);
  return Parsed::delivered;
}

}  // namespace cacheline::perfdata
