// Sentences about .dwo and .dwp files.
#include "symbols/split_files.h"

#include <elfutils/version.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

namespace cacheline::symbols {
namespace {

constexpr int kOpensPackages = 191;  ///< of elfutils that reads .dwp files (NEWS of 0.191)

/// `keep`: of files that are not where they should be.
std::string nextStep(MissingSplit::Why why, const std::string& keep) {
  switch (why) {
    case MissingSplit::Why::notReadable:
      return "Make it readable for the user who runs this.";
    case MissingSplit::Why::damaged:
    case MissingSplit::Why::otherBuild:
      return "Build it again: the .dwo files must be those of this build.";
    case MissingSplit::Why::typeSections:
      return "Compile without -fdebug-types-section, or without -gsplit-dwarf.";
    default:
      return keep;
  }
}

}  // namespace

bool mayBlock(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode);
}

MissingSplit::Why whyUnreadable(const std::string& path, std::string& detail) {
  struct stat file {};
  const auto failed = [&] {
    if (errno == ENOENT || errno == ENOTDIR) return MissingSplit::Why::notFound;
    detail = std::strerror(errno);
    return MissingSplit::Why::notReadable;
  };
  if (::stat(path.c_str(), &file) != 0) return failed();
  if (!S_ISREG(file.st_mode)) return MissingSplit::Why::notRegular;
  return ::access(path.c_str(), R_OK) != 0 ? failed() : MissingSplit::Why::damaged;
}

std::string whyText(MissingSplit::Why why, bool isMany) {
  const std::string is = isMany ? "are " : "is ";
  switch (why) {
    case MissingSplit::Why::notFound:
      break;
    case MissingSplit::Why::notRegular:
      return is + (isMany ? "not regular files" : "not a regular file");
    case MissingSplit::Why::notReadable:
      return "cannot be opened";
    case MissingSplit::Why::damaged:
      return is + "cut off or damaged";
    case MissingSplit::Why::otherBuild:
      return is + "of another build";
    case MissingSplit::Why::typeSections:
      return isMany ? "have a section for each type, which could not be read"
                    : "has a section for each type, which could not be read";
  }
  return isMany ? "were not found" : "was not found";
}

SplitProblem splitProblem(const std::string& binary, const std::vector<MissingSplit>& missing) {
  using Why = MissingSplit::Why;
  const std::string next =
      "Keep the .dwo files where the compiler wrote them, or compile without -gsplit-dwarf.";
  const std::string begin = "The debug information of " + binary + " continues in ";
  if (_ELFUTILS_VERSION < kOpensPackages && ::access((binary + ".dwp").c_str(), F_OK) == 0)
    return {begin + binary + ".dwp, which elfutils opens from 0." + std::to_string(kOpensPackages) +
                " on, and this is built with 0." + std::to_string(_ELFUTILS_VERSION) + ".",
            next};
  std::map<Why, std::vector<const MissingSplit*>> byReason;
  for (const MissingSplit& file : missing) byReason[file.why].push_back(&file);
  std::string what;
  for (const auto& [why, files] : byReason) {
    const bool isMany = files.size() > 1;
    const std::string detail = files.front()->detail;
    what += (what.empty() ? begin : ", and in ") + std::to_string(files.size()) +
            (isMany ? " .dwo files that " : " .dwo file that ") + whyText(why, isMany) + ": " +
            files.front()->name + (detail.empty() ? "" : " (" + detail + ")") + (isMany ? ", ..." : "");
  }
  return {what + (what.ends_with("...") ? "" : "."), nextStep(byReason.begin()->first, next)};
}

}  // namespace cacheline::symbols
