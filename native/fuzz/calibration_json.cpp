// libFuzzer over the JSON of calibrations. What is read has points of every class, is written and read again
// as the same, and gives shares in order for every time share; else it is an error of a kind.
#include "calibration/calibration_json.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"

using namespace cacheline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// A whole calibration, where the corpus folder (the last argument that is no option) is empty.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string corpus = *argc > 1 ? (*argv)[*argc - 1] : "";
  if (corpus.empty() || corpus[0] == '-' || !std::filesystem::is_directory(corpus) ||
      !std::filesystem::is_empty(corpus))
    return 0;
  calibration::Calibration seed;
  seed.cpuModel = "Model";
  seed.classes.fill({{1, 2, 30, 4.5, 0.25}, {100, 101, 130, std::nullopt, 0}});
  std::ofstream(corpus + "/seed") << calibration::toJson(seed);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const calibration::Calibration read =
        calibration::parse(std::string_view(reinterpret_cast<const char*>(data), size));
    const std::string json = calibration::toJson(read);
    require(calibration::toJson(calibration::parse(json)) == json);
    for (size_t which = 0; which < calibration::kAccessClasses; which++)
      for (double share = -0.125; share <= 1.125; share += 0.125) {
        const calibration::ShareRange range =
            calibration::excessShare(read, static_cast<calibration::AccessClass>(which), share);
        require(range.low >= 0 && range.low <= range.mid && range.mid <= range.high && range.high <= 1);
      }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::unreadable && !error.nextStep().empty());
  }
  return 0;
}
