// The JSON of what only data sources tell: where loads found their data, what stores hit, latencies, callers.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/own_place.h"
#include "analysis/recording_json.h"
#include "analysis/report.h"

namespace cacheline::analysis {

class MemoryJson : protected RecordingJson {
 protected:
  /// The report is kept.
  explicit MemoryJson(const Report& report) : report_(report) {}

  void stores(uint64_t total, uint64_t rmw, const MemoryCounts* memory) {
    open("stores");
    field("total", total);
    if (memory != nullptr) {
      field("l1Hit", memory->storeL1Hit);
      field("l1Miss", memory->storeL1Miss);
      field("na", memory->storeNa);
      null("rmw");
    } else {
      nulls({"l1Hit", "l1Miss"});
      field("na", total);
      field("rmw", rmw);
    }
    close();
  }

  void hitm(uint64_t local, uint64_t remote, bool withTotal) {
    if (!report_.hitmKnown) return null("hitm");
    open("hitm");
    if (withTotal) field("total", local + remote);
    field("local", local);
    field("remote", remote);
    close();
  }

  void peer(uint64_t local, uint64_t remote) {
    if (!report_.peerKnown) return null("peer");
    open("peer");
    field("local", local);
    field("remote", remote);
    close();
  }

  void counts(const MemoryCounts* memory, bool withTotal) {
    if (memory == nullptr) return nulls({"hitm", "peer", "ld"});
    hitm(memory->localHitm, memory->remoteHitm, withTotal);
    peer(memory->localPeer, memory->remotePeer);
    open("ld");
    field("fillBuffer", memory->fillBuffer);
    field("l1", memory->l1);
    field("l2", memory->l2);
    field("llc", memory->llc);
    field("remoteHit", memory->remoteHit);
    field("localDram", memory->localDram);
    field("remoteDram", memory->remoteDram);
    close();
  }

  void cycles(const Cycles& item) {
    open("meanCycles");
    optionalMean("remoteHitm", report_.hitmKnown, item.remoteHitm);
    optionalMean("localHitm", report_.hitmKnown, item.localHitm);
    const bool peers = report_.peerKnown && !report_.hitmKnown;
    optionalMean("peer", peers, item.peer);
    optionalMean("remotePeer", peers, item.remotePeer);
    optionalMean("localPeer", peers, item.localPeer);
    field("load", item.load);
    close();
    open("cycles");
    field("p50", item.p50);
    field("p95", item.p95);
    field("max", item.max);
    close();
  }
  void optionalMean(const char* name, bool known, double mean) {
    if (known)
      field(name, mean);
    else
      null(name);
  }

  void memory(const std::optional<MemoryEvidence>& item) {
    if (!item) return nulls({"hitm", "peer", "meanCycles", "cycles"});
    counts(&item->counts, false);
    if (item->cycles)
      cycles(*item->cycles);
    else
      nulls({"meanCycles", "cycles"});
    optional("memoryNodes", item->nodes);
    optional("paCount", item->physicalChanges);
    nodeUse(*item);
  }

  void nodeUse(const MemoryEvidence& item) {
    field("cpuList", item.cpuList);
    list("nodeStats", item.nodeUse, [&](const NodeStatistics& use) {
      open();
      field("node", use.node);
      field("cpus", use.cpus);
      field("cpuList", use.cpuList);
      hitm(use.localHitm, use.remoteHitm, false);
      peer(use.localPeer, use.remotePeer);
      field("stores", use.stores);
      close();
    });
  }

  void callers(const Callers& chain) {
    open();
    field("records", chain.records);
    if (report_.hitmKnown)
      field("hitm", chain.hitm);
    else
      null("hitm");
    list("frames", chain.frames, [&](const CallerFrame& frame) {
      open();
      address("codeAddress", frame.codeAddress);
      const OwnCode told = ownCode(frame);
      field("symbol", *told.function);
      field("object", frame.object);
      field("file", *told.file);
      field("line", told.line);
      list("inlined", frame.inlined, [&](const symbols::SourceFrame& each) { sourceFrame(each); });
      close();
    });
    close();
  }

  void sourceFrame(const symbols::SourceFrame& item) {
    open();
    field("function", item.function);
    field("file", item.file);
    field("line", item.line);
    close();
  }

  /// HITMs and peer hits of a sum over several lines.
  void pairs(const std::optional<MemoryCounts>& memory, bool peers) {
    if (memory)
      hitm(memory->localHitm, memory->remoteHitm, false);
    else
      null("hitm");
    if (!peers) return;
    if (memory)
      peer(memory->localPeer, memory->remotePeer);
    else
      null("peer");
  }

  const Report& report_;
};

}  // namespace cacheline::analysis
