// The known answer of the self-test, held against a report.
#include "analysis/self_test.h"

#include <algorithm>
#include <set>

namespace cacheline::analysis {
namespace {

const std::string kContended = "queue", kBystander = "bystander";

const Line* lineOf(const Report& report, const std::string& object) {
  for (const Line& line : report.lines)
    for (const Access& access : line.accesses)
      if (access.data.object == object) return &line;
  return nullptr;
}

/// Members that were used, in order of offset: "queue.produced".
std::set<std::string> membersOf(const Line& line) {
  std::set<std::string> members;
  for (const Access& access : line.accesses)
    members.insert(access.data.field.empty() ? access.data.object + "+" + std::to_string(access.data.offset)
                                             : access.data.object + "." + access.data.field);
  return members;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

}  // namespace

SelfTestFinding judgeSelfTest(const Report& report) {
  const std::string samples = std::to_string(report.samples) + " samples";
  const Line* line = lineOf(report, kContended);
  if (line == nullptr)
    return {false, "the contended line of '" + kContended + "' was not found in " + samples};
  if (line->verdict != Verdict::falseSharing)
    return {false, "'" + kContended + "' was judged " + verdictName(line->verdict) +
                       " instead of false sharing, in " + samples};
  const auto competing = std::count_if(line->threads.begin(), line->threads.end(),
                                       [](const ThreadStatistics& thread) { return thread.competes; });
  const std::set<std::string> members = membersOf(*line);
  if (competing != 2 || members.size() != 2)
    return {false, "competing threads: " + std::to_string(competing) + ", at " + joined(members) +
                       "; the program has two, each with a member of its own"};
  if (const Line* quiet = lineOf(report, kBystander); quiet != nullptr && quiet->contended > 0)
    return {false, "'" + kBystander + "', which one thread uses, was judged contended"};
  return {true, "false sharing between 2 threads at " + joined(members) + ", " +
                    std::to_string(line->contended) + " of " + samples};
}

SelfTestFinding judgeWatchSelfTest(const Report& report) {
  const Line* line = lineOf(report, kContended);
  if (line == nullptr || !line->confirmation) return {false, "no access to '" + kContended + "' was trapped"};
  const SelfTestFinding samples = judgeSelfTest(report);
  if (!samples.passed) return samples;
  return {line->confirmation->confirmed,
          (line->confirmation->confirmed ? "confirmed: " : "not confirmed: ") + line->confirmation->sentence};
}

}  // namespace cacheline::analysis
