// Names of threads are read from the records that name them.
#include "profile/sample_choice.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/recording.h"
#include "perfdata/reader.h"

namespace cacheline::profile {

namespace {

using analysis::Filter;

/// All names that each thread had; a child has its parent's last one.
class TaskNames : public perfdata::RecordVisitor {
 public:
  void onComm(const perfdata::Comm& record) override {
    Names& names = names_[record.tid];
    names.last = std::string(record.name);
    names.all.insert(names.last);
    if (record.pid == record.tid) processes_.insert(record.pid);
  }
  void onFork(const perfdata::Task& record) override {
    if (record.pid == record.tid) processes_.insert(record.pid);
    const auto parent = names_.find(record.parentTid);
    if (parent == names_.end()) return;
    const std::string name = parent->second.last;
    Names& names = names_[record.tid];
    names.last = name;
    names.all.insert(name);
  }

  /// Ids of the threads, or of the processes by the names of their main threads.
  std::vector<uint32_t> thatFit(const TaskTerm& term) const {
    std::vector<uint32_t> ids;
    for (const auto& [tid, names] : names_)
      if ((!term.process || processes_.contains(tid)) &&
          std::ranges::any_of(names.all, [&](const std::string& name) { return term.name.fits(name); }))
        ids.push_back(tid);
    return ids;
  }

 private:
  struct Names {
    std::string last;
    std::set<std::string> all;
  };
  std::map<uint32_t, Names> names_;
  std::set<uint32_t> processes_;
};

TaskNames readNames(const std::string& path, const Progress& progress) {
  TaskNames names;
  const auto keepOn = [&](double) { return !progress || progress(0); };
  perfdata::Reader::open(analysis::openRecording(path).perfData)->readOthers(names, keepOn);
  return names;
}

/// What is in both lists; an empty one stands for all. `none` where they have nothing in common.
void narrow(std::vector<uint32_t>& list, const std::vector<uint32_t>& other, bool& none) {
  if (other.empty()) return;
  if (list.empty()) {
    list = other;
    return;
  }
  std::erase_if(list, [&](uint32_t id) { return std::ranges::find(other, id) == other.end(); });
  none |= list.empty();
}

void append(std::vector<uint32_t>& list, const std::vector<uint32_t>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

Filter chosenSamples(const std::string& path, const Filter& given, const SampleTerms& terms,
                     const std::function<double()>& seconds, const Progress& progress) {
  Filter filter = given;
  const Filter& asked = terms.filter;
  if (asked.mode != Filter::Mode::all) {
    filter.none |= filter.mode != Filter::Mode::all && filter.mode != asked.mode;
    filter.mode = asked.mode;
  }
  if (asked.hasWindow()) {
    const double unit = terms.shares ? seconds() : 1;
    filter.from = std::max(filter.from, asked.from * unit);
    // The last sample itself belongs to the last share.
    if (!terms.shares || asked.to < 1) filter.to = std::min(filter.to, asked.to * unit);
  }
  narrow(filter.cpus, asked.cpus, filter.none);
  append(filter.notCpus, asked.notCpus);

  std::optional<TaskNames> names;
  std::vector<uint32_t> chosen[2];
  bool wanted[2] = {false, false};  // threads, processes
  for (const TaskTerm& term : terms.tasks) {
    std::vector<uint32_t> ids;
    if (term.id) {
      ids.push_back(*term.id);
    } else {
      if (!names) names = readNames(path, progress);
      ids = names->thatFit(term);
    }
    if (term.negated) {
      append(term.process ? filter.notPids : filter.notTids, ids);
    } else {
      append(chosen[term.process], ids);
      wanted[term.process] = true;
    }
  }
  for (const bool process : {false, true}) {
    if (!wanted[process]) continue;
    if (chosen[process].empty()) filter.none = true;
    narrow(process ? filter.pids : filter.tids, chosen[process], filter.none);
  }
  return filter;
}

}  // namespace cacheline::profile
