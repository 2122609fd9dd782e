// Interpolates a calibration's sweep.
#include "calibration/calibration.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace cacheline::calibration {
namespace {

/// A point of the sweep as excessShare() sees it.
struct Place {
  double timeShare = 0, excess = 0, spread = 0;
};

Place placeOf(const SweepPoint& point) {
  const double contended = point.contendedNs - point.workNs;
  return {contended > 0 ? contended / point.contendedNs : 0,
          excessOf(point.workNs, point.aloneNs, point.contendedNs), point.spread};
}

ShareRange rangeOf(const Place& place) {
  return {std::max(place.excess - place.spread, 0.0), place.excess,
          std::min(place.excess + place.spread, 1.0)};
}

Place between(const Place& a, const Place& b, double timeShare) {
  const double whole = b.timeShare - a.timeShare;
  const double part = whole == 0 ? 0.5 : (timeShare - a.timeShare) / whole;
  return {timeShare, std::lerp(a.excess, b.excess, part), std::lerp(a.spread, b.spread, part)};
}

ShareRange interpolated(const std::vector<Place>& places, double timeShare) {
  std::vector<ShareRange> found;
  for (size_t i = 1; i < places.size(); i++) {
    const auto [least, most] = std::minmax(places[i - 1].timeShare, places[i].timeShare);
    if (timeShare < least || timeShare > most) continue;
    found.push_back(rangeOf(between(places[i - 1], places[i], timeShare)));
  }
  if (found.empty()) {
    const auto distance = [timeShare](const Place& place) { return std::abs(place.timeShare - timeShare); };
    return rangeOf(*std::min_element(places.begin(), places.end(), [&](const Place& a, const Place& b) {
      return distance(a) < distance(b);
    }));
  }
  ShareRange all{1, 0, 0};
  for (const ShareRange& one : found) {
    all.low = std::min(all.low, one.low);
    all.mid += one.mid / static_cast<double>(found.size());
    all.high = std::max(all.high, one.high);
  }
  return all;
}

std::vector<Place> placesOf(const std::vector<SweepPoint>& points) {
  std::vector<Place> places;
  for (const SweepPoint& point : points) places.push_back(placeOf(point));
  return places;
}

/// Of the points that tell what an access costs alone; 1: none does.
double greatest(const std::vector<Place>& places) {
  double most = 0;
  for (const Place& place : places)
    if (1 - place.excess > 2 * place.spread) most = std::max(most, place.excess);
  return most > 0 ? most : 1;
}

/// The mean over all points, and what the least and the greatest of them allow.
ShareRange overAll(const std::vector<Place>& places) {
  ShareRange all{1, 0, greatest(places)};
  for (const Place& place : places) {
    all.low = std::min(all.low, rangeOf(place).low);
    all.mid += place.excess / static_cast<double>(places.size());
  }
  all.mid = std::min(all.mid, all.high);
  return all;
}

/// Over all classes but plain stores, whose waiting their sweep does not show.
double greatestOfAll(const Calibration& calibration) {
  double most = 0;
  for (size_t which = 0; which < kAccessClasses; ++which)
    if (static_cast<AccessClass>(which) != AccessClass::store)
      most = std::max(most, greatest(placesOf(calibration.classes[which])));
  return most;
}

}  // namespace

double excessOf(double workNs, double aloneNs, double contendedNs) {
  if (contendedNs <= workNs) return 0;
  return std::clamp(1 - (aloneNs - workNs) / (contendedNs - workNs), 0.0, 1.0);
}

ShareRange excessShare(const Calibration& calibration, AccessClass which, double timeShare) {
  const std::vector<Place> places = placesOf(calibration.of(which));
  if (places.empty())
    throw Error(ErrorKind::internal, std::string("the calibration has no points of the class ") +
                                         kAccessClassNames[static_cast<size_t>(which)]);
  const double share = std::isnan(timeShare) ? 0 : std::clamp(timeShare, 0.0, 1.0);
  if (which == AccessClass::update) return overAll(places);
  ShareRange range = interpolated(places, share);
  if (which != AccessClass::store) return range;
  range.low = 0;
  const bool beyond = std::all_of(places.begin(), places.end(),
                                  [share](const Place& place) { return share > place.timeShare; });
  if (!beyond) return range;
  const double most = greatestOfAll(calibration);
  return {0, most / 2, most};
}

}  // namespace cacheline::calibration
