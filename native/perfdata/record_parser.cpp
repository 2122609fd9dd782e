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

Mmap parseMmap(const uint8_t* body, const uint8_t* end, uint16_t misc, ByteOrder order) {
  Mmap map;
  map.pid = load<uint32_t>(body, order);
  map.tid = load<uint32_t>(body + 4, order);
  map.address = load<uint64_t>(body + 8, order);
  map.length = load<uint64_t>(body + 16, order);
  map.pageOffset = load<uint64_t>(body + 24, order);
  map.data = (misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
  map.kernel = isKernel(misc);
  // The record does not say; the kernel writes it for executable mappings, and for others where mmap_data
  // asks for them.
  map.protection = map.data ? 0 : PROT_EXEC;
  map.file = textOf(body + 32, end);
  return map;
}

Mmap parseMmap2(const uint8_t* body, const uint8_t* end, uint16_t misc, ByteOrder order) {
  Mmap map = parseMmap(body, end, misc, order);
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
    map.buildId = hexDigits({body + 36, std::min<size_t>(body[32], kMaxBuildIdBytes)});
  } else {
    map.major = load<uint32_t>(body + 32, order);
    map.minor = load<uint32_t>(body + 36, order);
    map.inode = load<uint64_t>(body + 40, order);
    map.inodeGeneration = load<uint64_t>(body + 48, order);
  }
  map.protection = load<uint32_t>(body + 56, order);
  map.flags = load<uint32_t>(body + 60, order);
  map.file = textOf(body + 64, end);
  return map;
}

Task parseTask(const uint8_t* body, ByteOrder order) {
  Task task;
  task.pid = load<uint32_t>(body, order);
  task.parentPid = load<uint32_t>(body + 4, order);
  task.tid = load<uint32_t>(body + 8, order);
  task.parentTid = load<uint32_t>(body + 12, order);
  task.time = load<uint64_t>(body + 16, order);
  return task;
}

Ksymbol parseKsymbol(const uint8_t* body, const uint8_t* end, ByteOrder order) {
  Ksymbol symbol;
  symbol.address = load<uint64_t>(body, order);
  symbol.length = load<uint32_t>(body + 8, order);
  symbol.unregister = (load<uint16_t>(body + 14, order) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
  symbol.name = textOf(body + 16, end);
  return symbol;
}

/// The smallest body of a record that is no sample, without its sample_id trailer.
size_t smallestBody(uint32_t type) {
  switch (type) {
    case PERF_RECORD_MMAP:
      return 32;
    case PERF_RECORD_MMAP2:
      return 64;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
    case PERF_RECORD_AUX:
      return 24;
    case PERF_RECORD_LOST:
    case PERF_RECORD_KSYMBOL:
      return 16;
    case PERF_RECORD_SWITCH:
      return 0;
    default:
      return 8;  // COMM, LOST_SAMPLES, ITRACE_START, SWITCH_CPU_WIDE
  }
}

}  // namespace

RecordParser::RecordParser(SampleLayouts& layouts, RecordVisitor& visitor)
    : layouts_(layouts), visitor_(visitor), samples_(layouts.size()) {
  for (size_t i = 0; i < samples_.size(); ++i) samples_[i].event = static_cast<uint16_t>(i);
}

Parsed RecordParser::deliverOther(const perf_event_header& header, const uint8_t* body, const uint8_t* end,
                                  const Moment& place) {
  const ByteOrder order = layouts_.order();
  const SampleLayouts::Trailer trailer = layouts_.trailerOf(body, end);
  const Moment moment = momentOf(trailer.time, place);
  end -= trailer.size;
  if (static_cast<size_t>(end - body) < smallestBody(header.type)) return Parsed::malformed;
  const auto half = [&](size_t at) { return load<uint32_t>(body + at, order); };
  const auto word = [&](size_t at) { return load<uint64_t>(body + at, order); };
  switch (header.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: {
      Mmap map = header.type == PERF_RECORD_MMAP ? parseMmap(body, end, header.misc, order)
                                                 : parseMmap2(body, end, header.misc, order);
      map.time = trailer.time;
      map.moment = moment;
      visitor_.onMmap(map);
      break;
    }
    case PERF_RECORD_COMM: {
      const bool exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
      visitor_.onComm({half(0), half(4), trailer.time, exec, textOf(body + 8, end), moment});
      break;
    }
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: {
      Task task = parseTask(body, order);
      task.moment = moment;
      if (header.type == PERF_RECORD_FORK)
        visitor_.onFork(task);
      else
        visitor_.onExit(task);
      break;
    }
    case PERF_RECORD_LOST:
      visitor_.onLost({word(8), trailer.time, false});
      break;
    case PERF_RECORD_LOST_SAMPLES:
      visitor_.onLost({word(0), trailer.time, true});
      break;
    case PERF_RECORD_KSYMBOL: {
      Ksymbol symbol = parseKsymbol(body, end, order);
      symbol.time = trailer.time;
      visitor_.onKsymbol(symbol);
      break;
    }
    case PERF_RECORD_AUX:
      visitor_.onAux(
          {word(0), word(8), word(16), trailer.time, trailer.id, trailer.pid, trailer.tid, trailer.cpu});
      break;
    case PERF_RECORD_ITRACE_START:
      visitor_.onTraceStart({half(0), half(4), trailer.cpu, trailer.time});
      break;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE: {
      Switch change{.pid = trailer.pid, .tid = trailer.tid, .cpu = trailer.cpu, .time = trailer.time};
      if (header.type == PERF_RECORD_SWITCH_CPU_WIDE) {
        change.otherPid = half(0);
        change.otherTid = half(4);
      }
      change.out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
      change.preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
      visitor_.onSwitch(change);
      break;
    }
    default:
      break;
  }
  return Parsed::delivered;
}

Parsed RecordParser::deliverTimeless(const perf_event_header& header, const uint8_t* record,
                                     const uint8_t* end, bool lasting) {
  const ByteOrder order = layouts_.order();
  ByteCursor in({record + sizeof header, header.size - sizeof header}, order);
  switch (header.type) {
    case kRecordAuxtraceInfo: {
      AuxtraceInfo info;
      info.type = in.take<uint32_t>();
      in.take<uint32_t>();  // reserved
      std::vector<uint64_t> words;
      while (in.left() >= sizeof(uint64_t)) words.push_back(in.take<uint64_t>());
      info.privateData = words;
      if (!in.ok()) return Parsed::malformed;
      visitor_.onAuxtraceInfo(info);
      return Parsed::delivered;
    }
    case kRecordAuxtrace: {
      Auxtrace trace;
      in.take<uint64_t>();  // the size of what follows
      trace.offset = in.take<uint64_t>();
      trace.reference = in.take<uint64_t>();
      trace.index = in.take<uint32_t>();
      trace.tid = in.take<uint32_t>();
      trace.cpu = in.take<uint32_t>();
      trace.bytes = {record + header.size, end};
      trace.lasting = lasting;
      if (!in.ok()) return Parsed::malformed;
      visitor_.onAuxtrace(trace);
      return Parsed::delivered;
    }
    case kRecordTimeConv: {
      TimeConversion conversion;
      conversion.shift = in.take<uint64_t>();
      conversion.multiplier = in.take<uint64_t>();
      conversion.zero = in.take<uint64_t>();
      if (!in.ok()) return Parsed::malformed;
      if (in.left() >= 18) {  // newer recorders say more
        conversion.cycles = in.take<uint64_t>();
        conversion.mask = in.take<uint64_t>();
        conversion.capZero = in.take<uint8_t>() != 0;
        conversion.capShort = in.take<uint8_t>() != 0;
      }
      visitor_.onTimeConversion(conversion);
      return Parsed::delivered;
    }
    default:
      return Parsed::delivered;
  }
}

}  // namespace cacheline::perfdata
