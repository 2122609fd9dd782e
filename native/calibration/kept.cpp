// Files of calibrations.
#include "calibration/kept.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "calibration/calibration_json.h"

namespace cacheline::calibration {
namespace {

constexpr size_t kMostOfName = 60;  ///< bytes of the model's name in the file's

/// ASCII letters and digits, with one dash for everything between them.
std::string readablePart(const std::string& model) {
  std::string part;
  for (const char c : model) {
    if (part.size() == kMostOfName) break;
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128)
      part += c;
    else if (!part.empty() && part.back() != '-')
      part += '-';
  }
  while (!part.empty() && part.back() == '-') part.pop_back();
  return part.empty() ? "cpu" : part;
}

}  // namespace

std::string keptPath(const std::string& cpuModel, const std::string& cpuId) {
  const std::string folder = cacheFolder();
  if (folder.empty()) return {};
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx",
                static_cast<unsigned long long>(mix(mix(0, cpuModel), cpuId)));
  return folder + "/calibrations/" + readablePart(cpuModel) + "-" + hash.data() + ".json";
}

std::string keep(const Calibration& calibration) {
  const std::string path = keptPath(calibration.cpuModel, calibration.cpuId);
  if (path.empty())
    throw Error(ErrorKind::io,
                "there is no cache folder: neither XDG_CACHE_HOME nor HOME is an absolute path",
                "Set one of them.");
  keepFile(path, toJson(calibration) + "\n");
  return path;
}

std::optional<Calibration> load(const std::string& cpuModel, const std::string& cpuId) {
  const std::string path = keptPath(cpuModel, cpuId);
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return std::nullopt;
  const MappedFile file = MappedFile::open(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  try {
    Calibration calibration = parse(text);
    if (calibration.cpuModel != cpuModel || calibration.cpuId != cpuId)
      throw Error(ErrorKind::unreadable,
                  "it is of another CPU, " + calibration.cpuModel + " (" + calibration.cpuId + ")");
    return calibration;
  } catch (const Error& wrong) {
    throw Error(ErrorKind::unreadable, path + ": " + wrong.what(),
                "Measure again: cacheline doctor --calibrate");
  }
}

}  // namespace cacheline::calibration
