// Candidates in the order of trust: the recorded path first, then what a build id leads to.
#include "symbols/symbol_search.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace cacheline::symbols {

bool isRegularFile(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

namespace {

std::string lowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

/// The id as files and folders are named after it: without the zeros that old recordings pad it with.
std::string folderId(const std::string& recorded) {
  constexpr size_t kSha1Digits = 40, kMd5Digits = 32;
  std::string id = lowerCase(recorded);
  if (id.size() == kSha1Digits && id.find_first_not_of('0', kMd5Digits) == std::string::npos)
    id.resize(kMd5Digits);
  return id;
}

bool isHex(const std::string& id) {
  return id.size() >= 4 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// A path of a recording below a folder; empty where it could lead out of it.
std::string below(const std::string& folder, const std::string& path) {
  if (path.empty() || path[0] != '/' || (path + "/").find("/../") != std::string::npos) return {};
  return folder + path;
}

}  // namespace

std::string homeFolder() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? std::string() : std::string(home);
}

bool sameBuildId(const std::string& recorded, const std::string& actual) {
  return !actual.empty() && lowerCase(recorded).starts_with(actual) &&
         recorded.find_first_not_of('0', actual.size()) == std::string::npos;
}

/// What has been found and refused so far for one binary.
struct SymbolSearch::Attempt {
  const std::string& path;  ///< as recorded
  const std::string& buildId;
  std::shared_ptr<const ElfImage> found, debugOnly;
  bool changed = false;
  std::string problem;  ///< of the first candidate that exists

  /// `proven`: taken only with the recorded build id. True where the search is over.
  bool consider(const std::string& candidate, bool proven) {
    if (candidate.empty() || (proven && buildId.empty()) || !isRegularFile(candidate)) return false;
    try {
      auto image = ElfImage::open(candidate);
      if (!buildId.empty() && !sameBuildId(buildId, image->buildId())) {
        if (problem.empty()) {
          const std::string& actual = image->buildId();
          problem = candidate +
                    (candidate == path ? " was rebuilt since it was recorded"
                                       : " is another build than the recorded one") +
                    ": build id " + buildId + " recorded, " + (actual.empty() ? "none" : actual) +
                    " now; addresses only.";
          changed = true;
        }
        return false;
      }
      if (!image->isDebugOnly()) {
        found = std::move(image);
        return true;
      }
      if (!debugOnly) debugOnly = std::move(image);
    } catch (const Error& error) {
      if (problem.empty()) problem = std::string(error.what()) + ".";
    }
    return false;
  }
};

std::vector<std::string> SymbolSearch::debugRoots() const {
  std::vector<std::string> roots;
  if (!options_.symfs.empty())
    for (const std::string& root : options_.debugRoots)
      if (std::string path = below(options_.symfs, root); !path.empty()) roots.push_back(std::move(path));
  roots.insert(roots.end(), options_.debugRoots.begin(), options_.debugRoots.end());
  return roots;
}

std::string SymbolSearch::cache() const {
  return options_.home.empty() ? std::string() : options_.home + "/.debug";
}

std::vector<std::string> SymbolSearch::buildIdCandidates(const std::string& path,
                                                         const std::string& buildId) const {
  const std::string id = folderId(buildId);
  if (!isHex(id)) return {};
  const std::string tail = "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2);
  std::vector<std::string> paths;
  if (const std::string home = cache(); !home.empty()) {
    // A folder that holds one of these; in old caches the file itself.
    for (const char* inside : {"/elf", "/vmlinux", "/debug", ""}) paths.push_back(home + tail + inside);
    if (const std::string copy = below(home, path); !copy.empty())
      for (const char* inside : {"/elf", "/debug"}) paths.push_back(copy + "/" + id + inside);
  }
  for (const std::string& root : debugRoots())
    for (const char* suffix : {"", ".debug"}) paths.push_back(root + tail + suffix);
  return paths;
}

Debuginfod::Fetched SymbolSearch::fetch(Debuginfod::Kind kind, const std::string& buildId,
                                        const std::string& name) {
  if (!options_.debuginfod) return {};
  if (!debuginfod_) debuginfod_.emplace(options_.limits, options_.progress);
  return debuginfod_->find(kind, folderId(buildId), name);
}

FoundBinary SymbolSearch::finish(Attempt& attempt) {
  std::string asked;
  if (!attempt.found && !attempt.buildId.empty()) {
    // A stripped binary would add only its code, which names need not.
    const bool enough = attempt.debugOnly && attempt.debugOnly->hasDebugInfo();
    for (const auto kind : {Debuginfod::Kind::executable, Debuginfod::Kind::debugInfo}) {
      if (enough || attempt.found) break;
      if (kind == Debuginfod::Kind::debugInfo && attempt.debugOnly) break;
      const Debuginfod::Fetched fetched = fetch(kind, attempt.buildId, attempt.path);
      if (!fetched.path.empty()) attempt.consider(fetched.path, true);
      if (asked.empty()) asked = fetched.reason;
    }
  }
  FoundBinary result;
  result.image = attempt.found ? attempt.found : attempt.debugOnly;
  if (result.image) return result;
  result.changed = attempt.changed;
  result.detail = attempt.problem;
  if (!asked.empty()) result.detail += (result.detail.empty() ? "" : " ") + asked;
  return result;
}

FoundBinary SymbolSearch::binary(const std::string& path, const std::string& buildId) {
  Attempt attempt{path, buildId, {}, {}, false, {}};
  const bool foreign = !options_.symfs.empty();
  bool done = foreign && attempt.consider(below(options_.symfs, path), false);
  done = done || attempt.consider(path, foreign);
  if (!done)
    for (const std::string& candidate : buildIdCandidates(path, buildId))
      if (attempt.consider(candidate, true)) break;
  FoundBinary result = finish(attempt);
  if (result.image || !attempt.problem.empty()) return result;
  // Nothing was there at all: opening the path says why in the system's words.
  std::string why = path + " is not in " + options_.symfs + ".";
  if (!foreign) {
    try {
      ElfImage::open(path);
    } catch (const Error& error) {
      why = std::string(error.what()) + ".";
    }
  }
  why += buildId.empty()
             ? " It was recorded without a build id, so no other file can be identified as the same."
             : " No file with its build id " + buildId + " is in " +
                   (cache().empty() ? "" : cache() + " or ") + "the debug folders.";
  if (!foreign) why += " Give the folder with the recorded machine's files (--symfs).";
  result.detail = why + (result.detail.empty() ? "" : " " + result.detail);
  return result;
}

FoundBinary SymbolSearch::vmlinux(const std::string& release, const std::string& buildId) {
  const std::string name = "vmlinux";
  Attempt attempt{name, buildId, {}, {}, false, {}};
  bool done = attempt.consider(options_.vmlinux, false);
  std::vector<std::string> places = buildIdCandidates("/[kernel.kallsyms]", buildId);
  if (!release.empty() && release.find('/') == std::string::npos)
    for (const std::string& place :
         {"/usr/lib/debug/boot/vmlinux-" + release, "/usr/lib/debug/lib/modules/" + release + "/vmlinux",
          "/usr/lib/debug/boot/vmlinux-" + release + ".debug", "/boot/vmlinux-" + release,
          "/lib/modules/" + release + "/build/vmlinux", "/lib/modules/" + release + "/vmlinux"}) {
      if (!options_.symfs.empty()) places.push_back(below(options_.symfs, place));
      places.push_back(place);
    }
  for (size_t i = 0; i < places.size() && !done; i++) done = attempt.consider(places[i], true);
  FoundBinary result = finish(attempt);
  if (!result.image && result.detail.empty()) {
    if (!options_.vmlinux.empty())
      result.detail = options_.vmlinux + " cannot be opened.";
    else if (buildId.empty())
      result.detail =
          "The recording has no build id of its kernel, so no vmlinux can be matched to it; "
          "name one (--vmlinux).";
    else
      result.detail = "No vmlinux with the kernel's build id " + buildId +
                      " is in the usual places; install the kernel's debug symbols or name it (--vmlinux).";
  }
  return result;
}

std::string SymbolSearch::supplement(const std::string& path, const std::string& buildId) {
  if (!isHex(buildId)) return {};
  std::vector<std::string> places;
  if (!options_.symfs.empty()) places.push_back(below(options_.symfs, path));
  if (path.starts_with('/')) places.push_back(path);
  for (const std::string& candidate : buildIdCandidates(path, buildId)) places.push_back(candidate);
  for (const std::string& place : places) {
    if (place.empty() || !isRegularFile(place)) continue;
    try {
      if (ElfImage::open(place)->buildId() == buildId) return place;
    } catch (const Error&) {
      continue;  // not the one that is looked for
    }
  }
  return fetch(Debuginfod::Kind::debugInfo, buildId, path).path;
}

std::string SymbolSearch::cachedKallsyms(const std::string& buildId) const {
  const std::string id = folderId(buildId), home = cache();
  if (!isHex(id) || home.empty()) return {};
  for (const std::string& path : {home + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + "/kallsyms",
                                  home + "/[kernel.kallsyms]/" + id + "/kallsyms"})
    if (isRegularFile(path)) return path;
  return {};
}

FoundBinary SymbolSearch::kernelModule(const std::string& path, const std::string& buildId) {
  std::string plain = path;
  for (const std::string_view suffix : {".xz", ".zst", ".gz"})
    if (plain.ends_with(suffix)) plain.resize(plain.size() - suffix.size());
  Attempt attempt{path, buildId, {}, {}, false, {}};
  std::vector<std::string> places = buildIdCandidates(path, buildId);
  // Distributions keep the separate debug file of a module under its path with or without a suffix.
  for (const std::string& root : debugRoots())
    if (const std::string copy = below(root, plain); !copy.empty())
      for (const char* suffix : {"", ".debug"}) places.push_back(copy + suffix);
  const bool unplaced = path.starts_with('[');  // it is not in the kernel's folder, and nobody knows where
  if (unplaced && !options_.symfs.empty()) {
    std::string name = path.substr(1, path.find(']') - 1);
    places.push_back(below(options_.symfs, "/" + name + ".ko"));
    std::replace(name.begin(), name.end(), '_', '-');  // the kernel's names have '_' for either
    places.push_back(below(options_.symfs, "/" + name + ".ko"));
  }
  bool done = !options_.symfs.empty() && attempt.consider(below(options_.symfs, plain), false);
  done = done || attempt.consider(plain, true);
  for (size_t i = 0; i < places.size() && !done; i++) done = attempt.consider(places[i], true);
  FoundBinary result = finish(attempt);
  if (!result.image && result.detail.empty()) {
    result.detail = "No file of the kernel module " + path + " with its build id " +
                    (buildId.empty() ? "(none was recorded)" : buildId) + " was found; give " +
                    (unplaced ? "the folder that holds it (--symfs)."
                              : "the folder with the recorded machine's files (--symfs).");
    if (plain != path) result.detail += " Compressed modules are not read: put " + plain + " there.";
  }
  return result;
}

}  // namespace cacheline::symbols
