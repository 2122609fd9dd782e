// What contention costs on a machine: the values of a measurement, and what they say of a program's accesses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cacheline::calibration {

/// Kinds of access, by what the CPU does for them.
enum class AccessClass : uint8_t {
  load,      ///< a plain load of a line that another thread stores to
  store,     ///< a plain store
  update,    ///< a plain read-modify-write (`add $1, (mem)`)
  locked,    ///< a locked read-modify-write (lock xadd)
  exchange,  ///< a load and compare-exchange, repeated until it works
};
inline constexpr size_t kAccessClasses = 5;
/// In the order of AccessClass: the keys in JSON.
inline constexpr std::array<const char*, kAccessClasses> kAccessClassNames{"load", "store", "update",
                                                                           "locked", "exchange"};

/// Two threads that each repeat: some work, one access. Times are ns of one iteration of one thread: workNs
/// the median over the rounds of the measurement, the others that and the median of what the access added in
/// a round. The work needs what the access before it read, and the access's address needs the work's result:
/// an out-of-order CPU cannot hide a load or a read-modify-write behind work.
struct SweepPoint {
  double workNs = 0;       ///< no access
  double aloneNs = 0;      ///< the access on a line of the thread's own
  double contendedNs = 0;  ///< the access on a line that the other thread uses the same way at another word
  /// Iterations of a thread from one change of a word that the other thread writes to the next change that it
  /// sees; empty: none was seen.
  std::optional<double> iterationsPerChange;
  /// Median over the rounds of how far their excess share (excessOf) is from that of this point.
  double spread = 0;
};

struct Calibration {
  std::string cpuModel, cpuId;  ///< as /proc/cpuinfo has them: name, "VENDOR-FAMILY-MODEL-STEPPING"
  std::array<uint32_t, 2> cpus{};
  double seconds = 0;  ///< that the measurement took
  std::string date;    ///< ISO 8601, UTC
  /// By AccessClass; the work between two accesses grows from point to point.
  std::array<std::vector<SweepPoint>, kAccessClasses> classes;
  uint64_t slices = 0;     ///< measured, those that were discarded included
  uint64_t discarded = 0;  ///< slices in which a thread did not have its CPU to itself

  const std::vector<SweepPoint>& of(AccessClass which) const { return classes[static_cast<size_t>(which)]; }
};

/// 1 - (aloneNs - workNs) / (contendedNs - workNs), within 0..1; 0 where contendedNs <= workNs: of the time
/// that an access takes, the share that is due to the other thread.
double excessOf(double workNs, double aloneNs, double contendedNs);

/// Shares, 0 to 1; low <= mid <= high.
struct ShareRange {
  double low = 0, mid = 0, high = 0;
};

/// Of the time that a thread spends at an access, the share that would vanish if no other thread competed.
/// `timeShare`: the access's share of the thread's time in the loop around it, 0 to 1; outside: the nearer of
/// them, NaN: 0.
///
/// At a point of the sweep the time share is (contendedNs - workNs) / contendedNs, and the excess share is
/// that of excessOf(). Between two points that follow each other in the sweep both are taken as linear. Where
/// several such pairs of points enclose `timeShare` (they need not be monotone), `mid` is the mean over them,
/// `low` the least and `high` the greatest. Outside of all, the point with the nearest time share holds.
/// `low` and `high` are `mid` less and plus the points' spread, within 0..1.
///
/// Plain stores wait in the store buffer, where this loop sees none of their time: of them only bounds are
/// known. `low` is 0. Where `timeShare` is more than at any point of the sweep, the program waits for the
/// store buffer as the loop never does: `high` is the greatest of the other classes, and `mid` halfway.
///
/// Of plain read-modify-writes only bounds are known, too: the sweep's least and greatest excess share, at
/// every `timeShare`. In a tight loop they are served from the store buffer for as long as it has room, with
/// a little work between them each waits as a load does, and both loops spend most of their time there.
///
/// The greatest excess share is taken from the points that tell what an access costs alone: their excess
/// share is more than two spreads below 1.
///
/// Throws Error(internal) where the class has no points, which no parsed or measured calibration has.
ShareRange excessShare(const Calibration& calibration, AccessClass which, double timeShare);

}  // namespace cacheline::calibration
