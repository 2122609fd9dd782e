// A PMU as sysfs describes it, and its events' terms as words of a perf_event_attr. Formats:
// Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events,caps} of the Linux kernel.
#pragma once

#include <linux/perf_event.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cacheline::record {

/// One term of an event: "umask=0x1"; without a value it is 1.
struct EventTerm {
  std::string name;
  uint64_t value = 1;
};

/// "event=0xcd,umask=0x1,ldlat=3". Numbers are decimal, 0x or 0. Throws Error(unreadable); `source` is where
/// the text comes from.
std::vector<EventTerm> parseEventTerms(std::string_view text, const std::string& source);

/// The bits that a term's value takes, the lowest first.
struct TermBits {
  size_t word = 0;  ///< of `config`, `config1`, `config2`, `config3`
  std::vector<uint8_t> bits;
};

/// "config1:0-15", "config:0-7,32-35". Throws Error(unreadable).
TermBits parseTermBits(std::string_view text, const std::string& source);

/// `config`, `config1`, `config2`, `config3` of an attribute.
using EventWords = std::array<uint64_t, 4>;

class SysfsPmu {
 public:
  /// The PMU `name` under `sysfs`; nullopt where it is absent or has no type.
  static std::optional<SysfsPmu> find(const std::string& sysfs, const std::string& name);
  /// Every PMU, by name.
  static std::vector<SysfsPmu> all(const std::string& sysfs);

  const std::string& name() const { return name_; }
  uint32_t type() const { return type_; }  ///< perf_event_attr.type
  /// CPUs that have it ("cpus", else "cpumask"); empty: all.
  std::vector<uint32_t> cpus() const;
  bool hasEvent(const std::string& event) const;
  bool hasTerm(const std::string& term) const;
  /// caps/NAME; nullopt where there is none or it is no number.
  std::optional<int64_t> capability(const std::string& capability) const;

  /// Sets the bits of `terms`, later terms over earlier ones. Throws Error(unreadable): a term that the
  /// format folder does not have, or whose file is malformed; Error(usage): a value that does not fit.
  void encode(const std::vector<EventTerm>& terms, EventWords& words) const;
  /// The terms of events/NAME and then `more`.
  EventWords event(const std::string& event, const std::vector<EventTerm>& more = {}) const;

 private:
  SysfsPmu(std::string folder, std::string name, uint32_t type)
      : folder_(std::move(folder)), name_(std::move(name)), type_(type) {}

  std::string folder_, name_;
  uint32_t type_ = 0;
};

/// Throws Error(impossible) where `words` needs config3 and this build's headers have no such field.
void setEventWords(perf_event_attr& attr, const EventWords& words);

}  // namespace cacheline::record
