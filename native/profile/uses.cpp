// Uses are told apart by one text of all that names them.
#include "profile/uses.h"

#include <string_view>

#include "base/hash.h"

namespace cacheline::profile {

namespace {

using analysis::Access;
using analysis::DataName;

void add(std::string& key, std::string_view text) {
  key += text;
  key += '\0';
}

void add(std::string& key, uint64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// All that analysis::objectName() and the answers about data tell apart.
void addData(std::string& key, const DataName& data) {
  add(key, data.object);
  add(key, data.type);
  add(key, data.field.find('[') == std::string::npos ? std::string_view(data.field)
                                                     : analysis::withoutIndices(data.field));
  add(key, data.definition ? std::string_view(data.definition->file) : std::string_view());
  add(key, data.definition ? data.definition->line : 0);
  add(key, static_cast<uint64_t>(data.how));
  add(key, data.stackOwner ? data.stackOwner->tid : 0);
}

}  // namespace

Uses::Uses(const analysis::Report& report) {
  size_t accesses = 0;
  for (const analysis::Line& line : report.lines) accesses += line.accesses.size();
  ofAccesses_.reserve(accesses);
  begins_.reserve(report.lines.size() + 1);
  HashMap<std::string, uint32_t> numbers, dataNumbers;
  std::string key, dataKey;
  for (const analysis::Line& line : report.lines) {
    begins_.push_back(ofAccesses_.size());
    for (const Access& access : line.accesses) {
      const DataName& data = access.data;
      dataKey.clear();
      addData(dataKey, data);
      key = dataKey;
      add(key, reinterpret_cast<uintptr_t>(access.code.get()));
      add(key, line.space);
      if (data.stackOwner) add(key, data.stackOwner->comm);
      if (data.allocation && data.type.empty()) {
        add(key, data.allocation->size);
        add(key, data.allocation->function);
      }
      const auto [found, isNew] = numbers.try_emplace(key, static_cast<uint32_t>(uses_.size()));
      if (isNew) {
        const auto ofData = dataNumbers.try_emplace(dataKey, static_cast<uint32_t>(dataNumbers.size())).first;
        uses_.push_back({&access, &line.space, ofData->second});
      }
      ofAccesses_.push_back(found->second);
    }
  }
  begins_.push_back(ofAccesses_.size());
  dataCount_ = dataNumbers.size();
}

}  // namespace cacheline::profile
