// Measures on the CPUs that this process may use.
#include "addon/calibrate_call.h"

#include <ctime>
#include <optional>

#include "base/error.h"
#include "base/json_writer.h"
#include "calibration/calibration_json.h"
#include "calibration/kept.h"
#include "calibration/measure.h"
#include "record/describe.h"
#include "record/machine.h"

namespace cacheline::addon {
namespace {

struct Calibrated {
  std::optional<calibration::Calibration> measured;
  std::string file, reason;
};

class CalibratedJson : JsonWriter {
 public:
  std::string write(const Calibrated& calibrated) {
    open();
    if (calibrated.measured)
      raw("measured", calibration::toJson(*calibrated.measured));
    else
      null("measured");
    if (calibrated.file.empty())
      null("file");
    else
      field("file", calibrated.file);
    field("reason", calibrated.reason);
    close();
    return take();
  }
};

std::string sentencesOf(const Error& error) {
  return error.what() + (error.nextStep().empty() ? "" : ". " + error.nextStep());
}

calibration::MeasureOptions optionsHere() {
  const perfdata::Features features = record::describeMachine();
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  calibration::MeasureOptions options;
  options.cpuModel = features.cpuDesc;
  options.cpuId = features.cpuId;
  options.date = record::isoTime(now);
  for (const uint32_t cpu : calibration::allowedCpus()) {
    calibration::CpuPlace place{cpu, -1, -1};
    if (cpu < features.cpuPlaces.size()) {
      place.socket = features.cpuPlaces[cpu].socket;
      place.core = features.cpuPlaces[cpu].core;
    }
    options.places.push_back(place);
  }
  return options;
}

}  // namespace

std::string calibrate(const std::atomic<bool>& stop) {
  Calibrated calibrated;
  try {
    calibrated.measured = calibration::measure(optionsHere(), stop);
    calibrated.file = calibration::keep(*calibrated.measured);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::impossible && error.kind() != ErrorKind::io) throw;
    calibrated.reason = sentencesOf(error);
  }
  return CalibratedJson().write(calibrated);
}

}  // namespace cacheline::addon
