// The rules of the sentence on threads and their memory.
#include "machine/conclusion.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "base/kernel_files.h"

namespace cacheline::machine {
namespace {

constexpr double kHome = 0.6, kConcentrated = 0.8, kNegligible = 0.01;
constexpr size_t kMostNamed = 6;  // threads in a sentence
/// Of a node's memory that a process may be bound to: the kernel and others have some of it, too.
constexpr double kFits = 0.9;

using ByNode = std::map<uint32_t, uint64_t>;

uint64_t totalOf(const ByNode& amounts) {
  uint64_t total = 0;
  for (const auto& [node, amount] : amounts) total += amount;
  return total;
}

struct Part {
  uint32_t node = 0;
  double share = 0;
};

/// The largest share of the whole.
std::optional<Part> largest(const ByNode& amounts) {
  const uint64_t total = totalOf(amounts);
  if (total == 0) return std::nullopt;
  const auto most = std::max_element(amounts.begin(), amounts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return Part{most->first, static_cast<double>(most->second) / static_cast<double>(total)};
}

/// "92%": whole ones, and 100 only of all.
std::string percentText(double share) {
  const double rounded = share < 1 ? std::min(std::round(share * 100), 99.0) : 100;
  return std::to_string(static_cast<int>(rounded)) + "%";
}

std::string enumerated(const std::vector<std::string>& items) {
  if (items.size() < 2) return items.empty() ? "" : items[0];
  return join({items.begin(), items.end() - 1}, ", ") + " and " + items.back();
}

/// "thread 3", "threads 3 and 5", "threads 3, 5, 6 and 9 more".
std::string threadsText(std::vector<pid_t> ids) {
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> words;
  for (const pid_t id : ids) {
    if (words.size() == kMostNamed && ids.size() > kMostNamed + 1) {
      words.push_back(std::to_string(ids.size() - kMostNamed) + " more");
      break;
    }
    words.push_back(std::to_string(id));
  }
  return (ids.size() == 1 ? "thread " : "threads ") + enumerated(words);
}

/// "55% on node 0 and 45% on node 1", the largest first.
std::string sharesText(const ByNode& amounts) {
  std::vector<std::pair<uint64_t, uint32_t>> sorted;
  for (const auto& [node, amount] : amounts)
    if (amount > 0) sorted.emplace_back(amount, node);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  const auto total = static_cast<double>(totalOf(amounts));
  std::vector<std::string> parts;
  for (const auto& [amount, node] : sorted)
    parts.push_back(percentText(static_cast<double>(amount) / total) + " on node " + std::to_string(node));
  return enumerated(parts);
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

class Concluding {
 public:
  Concluding(const Topology& topology, const Placement& placement, const std::vector<std::string>& command)
      : topology_(topology), placement_(placement), command_(command) {
    for (const ThreadPlace& thread : placement.threads) {
      const ByNode times = timesByNode(thread.ran, topology);
      for (const auto& [node, ns] : times) ran_[node] += ns;
    }
    for (const auto& [node, ns] : timesByNode(placement.unlisted, topology)) ran_[node] += ns;
    if (placement.memory)
      for (const auto& [node, kinds] : *placement.memory) memory_[node] += bytesOf(kinds);
    sortThreads();
  }

  Conclusion conclude() const {
    if (topology_.nodes.size() == 1) return {oneNode(), ""};
    const auto memory = largest(memory_), ran = largest(ran_);
    if (!memory)
      return {"It is unknown where the memory is: " +
                  (placement_.memoryReason.empty() ? "none was seen" : placement_.memoryReason) + "." +
                  (ran ? " The threads ran " + sharesText(ran_) + "." : ""),
              ""};
    if (!ran)
      return {"No thread ran during the observation, so it is unknown where they run. Of the memory, " +
                  sharesText(memory_) + ".",
              ""};
    return memory->share >= kConcentrated ? oneNodeMemory(*memory) : spreadMemory(*memory, *ran);
  }

 private:
  /// Threads by the node that they are at home on; those without one run everywhere.
  void sortThreads() {
    const auto negligible = kNegligible * static_cast<double>(totalOf(ran_));
    for (const ThreadPlace& thread : placement_.threads) {
      const ByNode times = timesByNode(thread.ran, topology_);
      const auto most = largest(times);
      if (!most || static_cast<double>(totalOf(times)) < negligible) continue;
      if (most->share >= kHome)
        home_[most->node].push_back(thread.tid);
      else
        wandering_.push_back(thread.tid);
    }
  }

  std::string oneNode() const {
    return topology_.numa
               ? "This machine has one NUMA node: all memory is equally near to all CPUs."
               : "This kernel knows no NUMA nodes: it treats all memory as equally near to all CPUs.";
  }

  Conclusion oneNodeMemory(const Part& memory) const {
    std::vector<std::string> far;
    size_t count = wandering_.size();
    for (const auto& [node, ids] : home_) {
      if (node == memory.node) continue;
      count += ids.size();
      far.push_back(threadsText(ids) + (ids.size() == 1 ? " runs" : " run") + " on node " +
                    std::to_string(node));
    }
    if (!wandering_.empty())
      far.push_back(threadsText(wandering_) + (wandering_.size() == 1 ? " runs" : " run") +
                    " on several nodes");
    const std::string share = percentText(memory.share);
    if (far.empty())
      return {"The threads run on node " + std::to_string(memory.node) + ", where " + share +
                  " of their memory is: binding them gains nothing.",
              ""};
    const bool all = home_.size() == 1 && wandering_.empty() && count > kMostNamed;
    const std::string who =
        all ? "all " + std::to_string(count) + " threads run on node " + std::to_string(home_.begin()->first)
            : enumerated(far);
    return withLine(capitalized(who) + ", " + share + (count == 1 ? " of its" : " of their") +
                        " memory is on node " + std::to_string(memory.node) + ".",
                    memory);
  }

  Conclusion spreadMemory(const Part& memory, const Part& ran) const {
    std::string text =
        "The memory is spread, " + sharesText(memory_) + ", and the threads run " + sharesText(ran_) + ".";
    if (ran.share >= kConcentrated) return withLine(text, ran);
    return withLine(text, memory);
  }

  /// Adds the line that brings all together on the node, or else spreads the memory.
  Conclusion withLine(std::string text, const Part& to) const {
    const Node* node = topology_.node(to.node);
    const std::string name = "node " + std::to_string(to.node);
    if (node == nullptr || node->cpus.empty())
      return {text + " " + capitalized(name) + " has no CPUs: threads cannot run there.", ""};
    for (const ProcessPlace& process : placement_.processes) {
      const auto allows = [](const std::vector<uint32_t>& allowed, uint32_t one) {
        return allowed.empty() || std::find(allowed.begin(), allowed.end(), one) != allowed.end();
      };
      const bool cpus = std::any_of(node->cpus.begin(), node->cpus.end(),
                                    [&](uint32_t cpu) { return allows(process.allowedCpus, cpu); });
      if (!cpus || !allows(process.allowedNodes, to.node))
        return {text + " Process " + std::to_string(process.pid) + " may not use " + name +
                    (cpus ? "'s memory" : "'s CPUs") + " (CPUs " + listText(process.allowedCpus) +
                    ", memory of nodes " + listText(process.allowedNodes) + "): it was bound elsewhere.",
                ""};
    }
    const double busy =
        placement_.seconds > 0 ? static_cast<double>(totalOf(ran_)) / placement_.seconds * 1e-9 : 0;
    const bool enoughCpus = busy <= static_cast<double>(node->cpus.size());
    const auto bytes = static_cast<double>(totalOf(memory_));
    const bool enoughMemory = node->memoryBytes && bytes <= kFits * static_cast<double>(*node->memoryBytes);
    if (enoughCpus && enoughMemory)
      return {text,
              line({"--cpunodebind=" + std::to_string(to.node), "--membind=" + std::to_string(to.node)})};
    char cpus[32];
    std::snprintf(cpus, sizeof cpus, "%.1f", busy);
    const std::string why = !enoughCpus
                                ? std::string("the threads keep ") + cpus + " CPUs busy, and the node has " +
                                      std::to_string(node->cpus.size())
                            : node->memoryBytes ? std::string("the memory does not fit")
                                                : std::string("its size is not known");
    return {text + " " + capitalized(name) + " alone is not enough: " + why +
                ". The command spreads the memory evenly.",
            line({"--interleave=all"})};
  }

  std::string line(std::vector<std::string> words) const {
    words.insert(words.begin(), "numactl");
    if (command_.empty()) {
      words.emplace_back("PROGRAM");
    } else {
      words.insert(words.end(), command_.begin(), command_.end());
    }
    return shellLine(words);
  }

  const Topology& topology_;
  const Placement& placement_;
  const std::vector<std::string>& command_;
  ByNode ran_, memory_;
  std::map<uint32_t, std::vector<pid_t>> home_;
  std::vector<pid_t> wandering_;
};

}  // namespace

Conclusion concludeFrom(const Topology& topology, const Placement& placement,
                        const std::vector<std::string>& command) {
  return Concluding(topology, placement, command).conclude();
}

std::string shellLine(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  std::vector<std::string> quoted;
  for (const std::string& word : words) {
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      quoted.push_back(word);
      continue;
    }
    std::string text = "'";
    for (const char character : word)
      text += character == '\'' ? std::string("'\\''") : std::string(1, character);
    quoted.push_back(text + "'");
  }
  return join(quoted, " ");
}

}  // namespace cacheline::machine
