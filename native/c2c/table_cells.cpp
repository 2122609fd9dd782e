// Numbers, shares and sets of the tables.
#include "c2c/table_cells.h"

#include "text/terminal_text.h"

namespace cacheline::c2c {

Displayed::Displayed(const analysis::Report& report) {
  const std::string& display = report.c2c->display;
  peer_ = display == "peer";
  local_ = display != "rmt";
  remote_ = display != "lcl";
  known_ = peer_ ? report.peerKnown : report.hitmKnown;
}

LoadPair Displayed::of(uint64_t localHitm, uint64_t remoteHitm, uint64_t localPeer,
                       uint64_t remotePeer) const {
  if (!known_) return {};
  return peer_ ? LoadPair{localPeer, remotePeer} : LoadPair{localHitm, remoteHitm};
}

LoadPair Displayed::of(const analysis::MemoryCounts& counts) const {
  return of(counts.localHitm, counts.remoteHitm, counts.localPeer, counts.remotePeer);
}

uint64_t Displayed::count(const LoadPair& loads) const {
  return (local_ ? loads.local : 0) + (remote_ ? loads.remote : 0);
}

const char* Displayed::upperTitle() const {
  if (peer_) return "Snoop";
  return !remote_ ? "Lcl" : !local_ ? "Rmt" : "Tot";
}
const char* Displayed::lowerTitle() const {
  return peer_ ? "Peer" : "Hitm";
}

void appendNodes(std::string& out, const std::vector<uint32_t>& nodes) {
  if (nodes.empty())
    out += "N/A";
  else
    text::appendRanges(out, nodes);
}

void appendNodes(std::string& out, const std::optional<std::vector<uint32_t>>& nodes) {
  appendNodes(out, nodes.value_or(std::vector<uint32_t>()));
}

void appendCount(std::string& out, const std::optional<uint64_t>& number) {
  if (number)
    text::appendNumber(out, *number);
  else
    out += "n/a";
}

void appendShare(std::string& out, uint64_t part, uint64_t whole) {
  if (part == 0 || whole == 0) {
    out += "0.00%";  // most of them are
    return;
  }
  text::appendFixed(out, static_cast<double>(part) / static_cast<double>(whole) * 100, 2);
  out += '%';
}

}  // namespace cacheline::c2c
