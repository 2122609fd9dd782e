// Arm SPE: memory samples out of the trace data of a recording, put where they belong among its records.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "perfdata/reader.h"
#include "spe/session.h"

namespace cacheline::sharing {

/// Whether an event of the recording is of an Arm SPE PMU.
bool isSpe(const perfdata::Reader& reader);

/// First reading: gathers all that the decoder needs. Trace data stays in the file, except where it was
/// compressed.
class SpeGatherer : public perfdata::RecordVisitor {
 public:
  /// The decoder of what was gathered; throws Error(unreadable) where the recording says of its trace data
  /// what cannot be. Call it once, after the reading.
  spe::SpeSession session(const perfdata::Features& features);

  void onComm(const perfdata::Comm& record) override;
  void onFork(const perfdata::Task& record) override;
  void onAux(const perfdata::Aux& record) override;
  void onTraceStart(const perfdata::TraceStart& record) override;
  void onSwitch(const perfdata::Switch& record) override;
  void onAuxtraceInfo(const perfdata::AuxtraceInfo& record) override;
  void onAuxtrace(const perfdata::Auxtrace& record) override;
  void onTimeConversion(const perfdata::TimeConversion& record) override;

 private:
  std::optional<spe::SpeInfo> info_;
  std::optional<spe::TimeConversion> time_;
  std::vector<spe::SpeChunk> chunks_;
  std::vector<spe::SpeAux> aux_;
  std::vector<spe::SpeSwitch> switches_;
  std::vector<spe::SpeThread> threads_;
  std::deque<std::vector<uint8_t>> copies_;  ///< of bytes that the reader does not keep
};

/// Second reading: hands on the samples of other events, and before each those of the trace that are older.
class SpeMerger : public perfdata::RecordVisitor {
 public:
  SpeMerger(spe::SpeSession& session, perfdata::RecordVisitor& next);
  /// The samples behind the last one of other events.
  void finish() { deliverUpTo(UINT64_MAX); }

  void onSample(const perfdata::Sample& sample) override {
    deliverUpTo(sample.time);
    next_.onSample(sample);
  }

 private:
  void deliverUpTo(uint64_t time);

  spe::SpeSession& session_;
  perfdata::RecordVisitor& next_;
  spe::SpeSample waiting_;
  bool more_ = false;
};

}  // namespace cacheline::sharing
