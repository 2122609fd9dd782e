// Names of kernel addresses: the kernel itself, its modules, and code that came at run time (BPF,
// trampolines).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/code_names.h"
#include "analysis/per_cpu.h"
#include "analysis/report.h"
#include "perfdata/features.h"
#include "perfdata/reader.h"
#include "symbols/interval_map.h"
#include "symbols/kallsyms.h"
#include "symbols/module.h"

namespace cacheline::analysis {

/// Of this machine's own kernel; only where its build id is the recorded one is it asked.
struct RunningKernel {
  std::string notes = "/sys/kernel/notes";
  std::string kallsyms = "/proc/kallsyms";
};

/// CodeName::object of the kernel itself.
inline constexpr const char* kKernelObject = "[kernel.kallsyms]";

/// An address in a file that is one of the recording's binaries.
struct KernelPlace {
  uint32_t binary = kNone;  ///< of Binaries; kNone: no file says what lies there
  uint64_t elfAddress = 0;
};

struct KernelData {
  std::string symbol;   ///< empty where nothing names it
  std::string object;   ///< as CodeName::object
  uint64_t offset = 0;  ///< bytes from the symbol's start
  KernelPlace place;    ///< of the address; only where vmlinux or the module's file names the symbol
  std::optional<Place> definition;
  std::string copy;  ///< of a per-CPU variable, whose it is: "CPU 3's copy"; else empty
  Unnamed why = Unnamed::named;
};

/// Fed with the kernel's MMAP records and all KSYMBOL records; asked for names afterwards. Addresses are
/// those of the recording. What helps, in this order: KSYMBOL records; vmlinux or the module's file;
/// kallsyms, from perf's cache or this machine's own. A kernel that was loaded somewhere else (KASLR) is told
/// by the reference symbol that its MMAP record names.
class KernelCode {
 public:
  /// Kernels that are opened become binaries of the recording.
  KernelCode(const perfdata::Features& features, Binaries& binaries, RunningKernel running = {});
  ~KernelCode();

  /// Records that are not the kernel's are ignored.
  void onMmap(const perfdata::Mmap& record);
  void onKsymbol(const perfdata::Ksymbol& record);

  /// Object is "[kernel.kallsyms]", "[ext4]" for a module, the KSYMBOL's name for what it names, and
  /// "[unknown]" outside of all of them. `time` (ns of the recording's clock) tells apart what used one
  /// address after the other.
  SharedName code(uint64_t address, uint64_t time = UINT64_MAX);
  /// Where vmlinux or the module's file has the instruction.
  KernelPlace place(uint64_t address);
  /// Code of vmlinux that names the per-CPU variable at `variable` (of the file) reached `address` on `cpu`:
  /// data() knows that CPU's copies from then on.
  void onPerCpu(uint64_t variable, uint64_t address, std::optional<uint32_t> cpu);
  /// A variable of the kernel or of a module.
  const KernelData& data(uint64_t address);
  /// The object of an address, without asking any file.
  const std::string& object(uint64_t address) const;

  /// Files of the kernel and of modules that were asked for, for the report's list of binaries.
  std::vector<BinaryState> states() const;

 private:
  struct Area;  ///< the kernel or a module, where it lay
  struct Dynamic {
    uint64_t start = 0, end = 0, since = 0, until = UINT64_MAX;
    uint32_t name = 0;  ///< in names_
  };
  const Dynamic* dynamicAt(uint64_t address, uint64_t time);
  const std::string& recordedBuildId(const std::string& module);
  Area* areaAt(uint64_t address) const;
  void open(Area& area);
  /// The file's address of a recorded one; nullopt where the file cannot say.
  std::optional<uint64_t> fileAddress(const Area& area, uint64_t address) const;
  const symbols::KernelSymbol* listed(const Area& area, uint64_t address, bool code, uint64_t& offset);
  void loadKallsyms(const Area& kernel);
  CodeName makeCode(uint64_t address);
  KernelData makeData(uint64_t address);
  bool nameByFile(const Area& area, uint64_t elfAddress, KernelData& data);
  bool nameByList(uint64_t listedAddress, bool ofModule, KernelData& data);

  const perfdata::Features& features_;
  Binaries& binaries_;
  RunningKernel running_;
  std::optional<HashMap<std::string, std::string>> buildIds_;  ///< once asked
  std::vector<std::unique_ptr<Area>> areas_;                   ///< newest last
  Area* kernel_ = nullptr;                                     ///< the newest one
  mutable symbols::IntervalMap areaIndex_;                     ///< of areas_, once asked
  mutable bool areasIndexed_ = false;
  std::vector<Dynamic> dynamic_;  ///< sorted by start once asked
  bool dynamicSorted_ = true;
  uint64_t longestDynamic_ = 0;
  std::optional<PerCpuCopies> perCpu_;
  std::optional<symbols::Kallsyms> kallsyms_;
  bool kallsymsModules_ = false;  ///< its modules lie where the recording's did
  uint64_t kallsymsMoved_ = 0;    ///< recorded address - listed address
  std::string kallsymsProblem_;
  std::vector<SharedName> names_;
  std::deque<KernelData> dataNames_;
  HashMap<uint64_t, uint32_t> codeIndex_, dataIndex_;
};

}  // namespace cacheline::analysis
