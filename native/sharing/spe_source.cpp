// From the records around SPE data to its decoder, and from its samples to the visitor.
#include "sharing/spe_source.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace cacheline::sharing {

namespace {

/// Numbers that records say with all bits set are unknown, to the decoder -1.
int32_t known(uint32_t number) {
  return static_cast<int32_t>(number);
}

}  // namespace

bool isSpe(const perfdata::Reader& reader) {
  return std::any_of(reader.events().begin(), reader.events().end(), [&](const perfdata::Event& event) {
    if (event.name.starts_with("arm_spe")) return true;
    return std::any_of(
        reader.features().pmuMappings.begin(), reader.features().pmuMappings.end(),
        [&](const auto& pmu) { return pmu.first == event.attr.type && pmu.second.starts_with("arm_spe"); });
  });
}

void SpeGatherer::onComm(const perfdata::Comm& record) {
  threads_.push_back({record.time, known(record.pid), known(record.tid)});
}

void SpeGatherer::onFork(const perfdata::Task& record) {
  threads_.push_back({record.time, known(record.pid), known(record.tid)});
}

void SpeGatherer::onAux(const perfdata::Aux& record) {
  aux_.push_back(
      {known(record.cpu), known(record.tid), record.time, record.offset, record.size, record.flags});
}

void SpeGatherer::onTraceStart(const perfdata::TraceStart& record) {
  switches_.push_back({record.time, known(record.cpu), known(record.pid), known(record.tid)});
}

void SpeGatherer::onSwitch(const perfdata::Switch& record) {
  const bool in = !record.out;
  switches_.push_back({record.time, known(record.cpu), in ? known(record.pid) : known(record.otherPid),
                       in ? known(record.tid) : known(record.otherTid)});
}

void SpeGatherer::onAuxtraceInfo(const perfdata::AuxtraceInfo& record) {
  if (record.type == spe::kAuxtraceTypeSpe) info_ = spe::readInfo(record.privateData, 0);
}

void SpeGatherer::onAuxtrace(const perfdata::Auxtrace& record) {
  spe::SpeChunk chunk{known(record.cpu), known(record.tid), record.offset, 0, record.bytes};
  if (!record.lasting) {
    copies_.emplace_back(record.bytes.begin(), record.bytes.end());
    chunk.bytes = copies_.back();
  }
  chunks_.push_back(chunk);
}

void SpeGatherer::onTimeConversion(const perfdata::TimeConversion& record) {
  time_ = spe::TimeConversion{record.shift,  record.multiplier, record.zero,
                              record.cycles, record.mask,       record.capShort};
}

spe::SpeSession SpeGatherer::session(const perfdata::Features& features) {
  if (!info_)
    throw Error(ErrorKind::unreadable,
                "this recording has an Arm SPE event but no record that describes its trace data",
                "The recording is incomplete; record again.");
  spe::SpeOptions options;
  options.midr = std::strtoull(features.cpuId.c_str(), nullptr, 16);
  options.time = time_;
  spe::SpeSession session(std::move(*info_), options);
  for (const spe::SpeChunk& chunk : chunks_) session.addChunk(chunk);
  for (const spe::SpeAux& aux : aux_) session.addAux(aux);
  for (const spe::SpeSwitch& change : switches_) session.addSwitch(change);
  for (const spe::SpeThread& thread : threads_) session.addThread(thread);
  return session;
}

SpeMerger::SpeMerger(spe::SpeSession& session, perfdata::RecordVisitor& next)
    : session_(session), next_(next) {
  more_ = session_.next(waiting_);
}

void SpeMerger::deliverUpTo(uint64_t time) {
  while (more_ && waiting_.time <= time) {
    perfdata::Sample sample;
    sample.ip = waiting_.ip;
    sample.time = waiting_.time;
    sample.address = waiting_.address;
    sample.physicalAddress = waiting_.physicalAddress;
    sample.weight = waiting_.weight;
    sample.dataSource = waiting_.dataSource;
    sample.pid = static_cast<uint32_t>(waiting_.pid);
    sample.tid = static_cast<uint32_t>(waiting_.tid);
    sample.cpu = static_cast<uint32_t>(waiting_.cpu);
    sample.misc = static_cast<uint16_t>(waiting_.cpuMode | PERF_RECORD_MISC_EXACT_IP);
    sample.moment = {sample.time, perfdata::Moment::kNowhere};
    next_.onSample(sample);
    more_ = session_.next(waiting_);
  }
}

}  // namespace cacheline::sharing
