// How much of the waiting for cache lines is for data that the waiting access does not share.
#pragma once

#include <cstdint>
#include <optional>

namespace cacheline::analysis {

/// 0 to 1, of a line, an object, a type or a member. What is not known makes the bounds wider.
struct FalseShare {
  std::optional<double> value;  ///< empty: no access was seen that anybody waited for
  double low = 0, high = 1;
  /// Whether neither limit of the verdicts (kFalse, kTrue) lies between the bounds.
  bool isSure() const;
};

/// Of a line with competitors and a writer. At least kFalse: false sharing; at most kTrue and no victims:
/// true sharing; else, and where the value is not known, mixed.
inline constexpr double kFalse = 0.8, kTrue = 0.2;

/// Waiting added up, in contended samples: of an access, of a line.
struct WaitSum {
  double waiting = 0;        ///< all of it
  double known = 0;          ///< that has a cause
  double falsely = 0;        ///< of `known`
  double low = 0, high = 0;  ///< bounds of the false part of `waiting`, but for chance
  double variance = 0;       ///< of the false part, by chance

  void add(const WaitSum& other);
  FalseShare share() const;
};

/// The waiting of accesses on several lines. What chance did to a line, it did to all of its accesses alike.
class WaitsOfLines {
 public:
  /// `line`: its number; numbers do not go back.
  void add(uint64_t line, const WaitSum& access);
  void add(const WaitsOfLines& other);
  WaitSum sum() const;

 private:
  WaitSum before_;  ///< of the lines before the last one
  WaitSum last_;    ///< `variance` unused
  uint64_t line_ = 0;
  double deviation_ = 0;  ///< of `last_`
};

}  // namespace cacheline::analysis
