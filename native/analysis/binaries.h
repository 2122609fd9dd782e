// The binaries of a recording: which file each mapping names, whether it is still the recorded one, and how
// many samples depend on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/kept_binaries.h"
#include "analysis/recording.h"
#include "analysis/report.h"
#include "analysis/timeline.h"
#include "perfdata/features.h"
#include "symbols/module.h"
#include "symbols/symbol_search.h"

namespace cacheline::analysis {

/// Modules by path and recorded build id. A build id comes from the MMAP2 record, else from the header, else
/// from meta.json; where there is none at all, meta.json's file size and time decide whether a file changed.
class Binaries {
 public:
  /// `kept`: of earlier analyses, and for later ones; may be null.
  Binaries(const perfdata::Features& features, const Meta& meta, symbols::SymbolOptions options = {},
           std::shared_ptr<KeptBinaries> kept = nullptr);

  /// Index of the binary behind a mapping; kNone where no file can be ("//anon", "[vdso]", shared memory).
  uint32_t of(const Backing& backing);
  /// Adds a binary that no mapping names and that is already open, the kernel; reports call it `name`, and
  /// list it with the kernel's own.
  uint32_t adopt(std::shared_ptr<symbols::Module> module, const std::string& name);
  /// Opens it at the first call.
  symbols::Module& module(uint32_t binary) { return *share(binary); }
  const std::shared_ptr<symbols::Module>& share(uint32_t binary);
  /// What is kept of it; null: nothing is.
  KeptBinary* kept(uint32_t binary);
  /// The file of any machine, for names; null where it is missing or changed. May be a debug file without
  /// code.
  const symbols::ElfImage* image(uint32_t binary) { return module(binary).image(); }
  /// The same where its code can be decoded: an x86-64 ELF file that has its code.
  const symbols::ElfImage* codeImage(uint32_t binary);
  /// File offset to ELF virtual address; false outside every segment or without an image.
  bool elfAddress(uint32_t binary, uint64_t fileOffset, uint64_t& address);
  /// Where the files of this recording are looked for; the kernel's too.
  symbols::SymbolSearch& search() { return search_; }

  void countSample(uint32_t binary) { ++entries_[binary].samples; }
  void countSamples(uint32_t binary, uint64_t samples) { entries_[binary].samples += samples; }
  /// Its data is in the report.
  void countData(uint32_t binary) { entries_[binary].data = true; }

  const std::string& path(uint32_t binary) const { return entries_[binary].path; }
  /// What reports call it: its base name, or the name it was adopted with.
  std::string baseName(uint32_t binary) const;
  /// Binaries with samples or data, by path.
  std::vector<BinaryState> states();
  /// Sentences about binaries whose state hides something: `total` samples are in the recording.
  std::vector<std::string> warnings(uint64_t total);

 private:
  struct Entry {
    std::string path, buildId;
    std::string key;        ///< what it is told from others by; empty where adopted
    std::string adoptedAs;  ///< empty unless adopted
    bool deleted = false;   ///< the mapping's name ended in " (deleted)"
    std::shared_ptr<symbols::Module> module;
    uint64_t samples = 0;
    bool data = false;
  };
  std::shared_ptr<symbols::Module> open(const Entry& entry);
  std::shared_ptr<symbols::Module> openForeign(const Entry& entry, const std::string& root);
  std::vector<uint32_t> used() const;  ///< sorted by path, then build id

  const Meta& meta_;
  std::string arch_;  ///< of the recorded machine, as uname -m says it; or empty
  symbols::SymbolSearch search_;
  const std::shared_ptr<KeptBinaries> kept_;
  HashMap<std::string, std::string> buildIds_;  ///< by path, from the header
  HashMap<std::string, uint32_t> index_;
  std::vector<Entry> entries_;
};

/// The binary behind each backing, asked for once.
class BackingBinaries {
 public:
  BackingBinaries(Binaries& binaries, const Timeline& timeline) : binaries_(binaries), timeline_(timeline) {}
  uint32_t of(uint32_t backing) {
    if (known_.size() <= backing) known_.resize(backing + size_t{1}, kUnasked);
    if (known_[backing] == kUnasked) known_[backing] = binaries_.of(timeline_.backing(backing));
    return known_[backing];
  }

 private:
  static constexpr uint32_t kUnasked = kNone - 1;
  Binaries& binaries_;
  const Timeline& timeline_;
  std::vector<uint32_t> known_;
};

}  // namespace cacheline::analysis
