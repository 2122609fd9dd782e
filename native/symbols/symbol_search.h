// Where the files of a recording are looked for: on this machine, under --symfs, in perf's cache, in build-id
// folders, at debuginfod servers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbols/debuginfod.h"
#include "symbols/elf_image.h"

namespace cacheline::symbols {

bool isRegularFile(const std::string& path);

std::string homeFolder();  ///< $HOME, or empty

/// What a user can say about it. The defaults are the conventions of the GNU tools and of perf.
struct SymbolOptions {
  std::string symfs;  ///< folder that holds the files of the recorded machine under their own paths; or empty
  std::string vmlinux;              ///< the kernel with its symbols; empty: looked for
  std::string home = homeFolder();  ///< its .debug folder is perf's cache; empty: not looked at
  std::vector<std::string> debugRoots{
      "/usr/lib/debug"};    ///< hold .build-id/xx/yyyy.debug, and copies of whole paths
  bool debuginfod = false;  ///< ask servers for what is not here
  Debuginfod::Limits limits = Debuginfod::Limits::standard();
  Debuginfod::Progress progress;  ///< of debuginfod
};

/// Whether an id as recordings hold it (old ones always store 20 bytes, a shorter id followed by zeros, and
/// the case is free) is the one of a file.
bool sameBuildId(const std::string& recorded, const std::string& actual);

struct FoundBinary {
  std::shared_ptr<const ElfImage> image;  ///< null: none can be used; may be debug-only
  bool changed = false;                   ///< there is a file at the path, but of another build
  std::string detail;                     ///< where image is null: one or more sentences; else empty
};

/// Looks files up. One search serves one analysis; not thread-safe.
class SymbolSearch {
 public:
  explicit SymbolSearch(SymbolOptions options = {}) : options_(std::move(options)) {}
  const SymbolOptions& options() const { return options_; }

  /// The binary that was recorded as `path`. In this order: symfs and the path; the path (with a symfs only
  /// where the build id proves it); by build id perf's cache, the build-id folders, debuginfod. A file is
  /// taken when its build id is the recorded one; where none was recorded, only symfs and the path are asked.
  FoundBinary binary(const std::string& path, const std::string& buildId);
  /// The vmlinux of a kernel: options().vmlinux where it is given, else the usual places for `release`
  /// (`uname -r`) and the build-id folders, else debuginfod. With a build id only a file that has it.
  FoundBinary vmlinux(const std::string& release, const std::string& buildId);
  /// The file of a kernel module, by its path ("/lib/modules/RELEASE/.../NAME.ko") or its build id. This
  /// machine's own file is taken only with the recorded build id.
  FoundBinary kernelModule(const std::string& path, const std::string& buildId);
  /// The file that dwz wrote to `path`: under symfs, at the path, in the build-id folders, at debuginfod; one
  /// with that build id, or empty.
  std::string supplement(const std::string& path, const std::string& buildId);
  /// Where perf keeps the kallsyms of a recorded kernel; empty where it does not.
  std::string cachedKallsyms(const std::string& buildId) const;
  /// Asks debuginfod where the options allow it; `path` is empty else, and so is `reason`.
  Debuginfod::Fetched fetch(Debuginfod::Kind kind, const std::string& buildId, const std::string& name);
  bool cancelled() const { return debuginfod_ && debuginfod_->cancelled(); }

  /// `debugRoots`, under symfs first; and the folder of perf's cache, or empty.
  std::vector<std::string> debugRoots() const;
  std::string cache() const;

 private:
  struct Attempt;
  std::vector<std::string> buildIdCandidates(const std::string& path, const std::string& buildId) const;
  FoundBinary finish(Attempt& attempt);

  SymbolOptions options_;
  std::optional<Debuginfod> debuginfod_;
};

}  // namespace cacheline::symbols
