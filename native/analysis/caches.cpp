// Reading of the caches of meta.json, which is untrusted.
#include "analysis/caches.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace cacheline::analysis {
namespace {

using rapidjson::Value;

const Value* member(const Value& object, const char* name) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(name);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

const Value* listOf(const Value& object, const char* name) {
  const Value* const list = member(object, name);
  return list != nullptr && list->IsArray() ? list : nullptr;
}

/// 0: it is missing, or no whole number.
uint64_t numberOf(const Value& object, const char* name) {
  const Value* const number = member(object, name);
  return number != nullptr && number->IsUint64() ? number->GetUint64() : 0;
}

std::vector<uint32_t> cpusOf(const Value& object) {
  std::vector<uint32_t> cpus;
  if (const Value* const list = listOf(object, "cpus"))
    for (const Value& cpu : list->GetArray())
      if (cpu.IsUint()) cpus.push_back(cpu.GetUint());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::vector<std::vector<uint32_t>> coresOf(const Value& topology) {
  std::vector<std::vector<uint32_t>> cores;
  if (const Value* const all = listOf(topology, "cores"))
    for (const Value& core : all->GetArray())
      if (std::vector<uint32_t> cpus = cpusOf(core); !cpus.empty()) cores.push_back(std::move(cpus));
  return cores;
}

/// Null: meta.json has no such member.
const Value* memberOf(const std::string& metaJson, const char* name, rapidjson::Document& document) {
  document.Parse<rapidjson::kParseIterativeFlag>(metaJson.data(), metaJson.size());
  return document.HasParseError() ? nullptr : member(document, name);
}

bool isWithinOneCore(const std::vector<uint32_t>& cpus, const std::vector<std::vector<uint32_t>>& cores) {
  return cpus.size() == 1 || std::any_of(cores.begin(), cores.end(), [&](const auto& core) {
           return std::includes(core.begin(), core.end(), cpus.begin(), cpus.end());
         });
}

}  // namespace

std::optional<uint64_t> DataCache::sets() const {
  if (!ways || *ways == 0 || *ways > lines()) return std::nullopt;
  return lines() / *ways;
}

std::vector<DataCache> cachesOf(const std::string& metaJson) {
  std::vector<DataCache> caches;
  rapidjson::Document document;
  const Value* const topology = memberOf(metaJson, "topology", document);
  const Value* const list = topology != nullptr ? listOf(*topology, "caches") : nullptr;
  if (list == nullptr) return caches;
  const std::vector<std::vector<uint32_t>> cores = coresOf(*topology);
  for (const Value& item : list->GetArray()) {
    const Value* const type = member(item, "type");
    if (type == nullptr || !type->IsString()) continue;
    DataCache cache{static_cast<uint32_t>(numberOf(item, "level")),
                    type->GetString(),
                    numberOf(item, "bytes"),
                    numberOf(item, "lineSize"),
                    {},
                    cpusOf(item)};
    if (const uint64_t ways = numberOf(item, "ways"); ways > 0) cache.ways = ways;
    cache.shared = !isWithinOneCore(cache.cpus, cores);
    const bool isData = cache.type == "Data" || cache.type == "Unified";
    if (isData && cache.level > 0 && cache.lineBytes > 0 && cache.bytes >= cache.lineBytes &&
        !cache.cpus.empty())
      caches.push_back(std::move(cache));
  }
  std::stable_sort(caches.begin(), caches.end(), [](const DataCache& a, const DataCache& b) {
    return a.level != b.level ? a.level < b.level : a.cpus.front() < b.cpus.front();
  });
  return caches;
}

std::vector<std::vector<uint32_t>> coresOf(const std::string& metaJson) {
  rapidjson::Document document;
  const Value* const topology = memberOf(metaJson, "topology", document);
  return topology == nullptr ? std::vector<std::vector<uint32_t>>() : coresOf(*topology);
}

std::optional<uint32_t> usableCpusOf(const std::string& metaJson) {
  rapidjson::Document document;
  const Value* const machine = memberOf(metaJson, "machine", document);
  if (machine == nullptr) return std::nullopt;
  for (const char* const name : {"usableCpus", "cpus"})
    if (const Value* const cpus = member(*machine, name);
        cpus != nullptr && cpus->IsUint() && cpus->GetUint() > 0)
      return cpus->GetUint();
  return std::nullopt;
}

}  // namespace cacheline::analysis
