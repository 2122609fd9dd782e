// Kernel addresses: vmlinux that was moved by KASLR, modules, KSYMBOL records, kallsyms of the right kernel
// only. `perf script` is a judge.
#include "analysis/kernel_code.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "../perfdata/record_builder.h"
#include "../perfdata/test_support.h"
#include "symbols/elf_image.h"

namespace cacheline::analysis {
namespace {

using perfdata::testing::RecordBuilder;
using perfdata::testing::TempFolder;

constexpr uint64_t kLinked = 0xffffffff81000000, kMoved = 0x2a000000, kModuleStart = 0xffffffffc0400000;
constexpr uint64_t kModuleData = 0xffffffffc0900000;  ///< where its data lie, less their address in the file

const char* const kKernelSource = R"code(
asm(".text\n.globl _text, _stext\n_text:\n_stext:\n nop; nop; nop; nop; nop; nop; nop; nop\n");
struct Work { long done; } work_list[4] = {{1}};
static inline long finish(struct Work* work) {
  return __atomic_add_fetch(&work->done, 1, __ATOMIC_SEQ_CST);
}
__attribute__((noinline)) long do_work(long i) {
  return finish(&work_list[i]) +
         finish(&work_list[0]);
}
long do_idle(long i) { return do_work(i) + 1; }
long _start(void) { return do_idle(3); }
)code";

const char* const kModuleSource = R"code(
int seen[4];
static int twice;
int* first(void) { return &twice; }
__attribute__((noinline)) int fs_read(int i) { return ++seen[i]; }
int fs_write(int i) { return fs_read(i) - 1; }
)code";

const char* const kOtherModuleSource = "static int twice; int* other(void) { return &twice; }\n";

std::string command(const std::string& line) {
  FILE* pipe = ::popen(line.c_str(), "r");
  std::string output;
  char buffer[4096];
  for (size_t n; pipe != nullptr && (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.append(buffer, n);
  if (pipe == nullptr || ::pclose(pipe) != 0) throw std::runtime_error("failed: " + line);
  return output;
}

/// A kernel with its symbols, a module, and a machine that runs the kernel, all in a folder.
struct Machine {
  Machine() {
    std::ofstream(folder / "kernel.c") << kKernelSource;
    std::ofstream(folder / "m.c") << kModuleSource;
    std::ofstream(folder / "o.c") << kOtherModuleSource;
    const std::string cc =
        std::string(CACHELINE_TEST_CC) + " -g -O2 -fno-pic -fcf-protection=none -mcmodel=kernel ";
    command(cc + "-nostdlib -static -no-pie -Wl,--build-id=sha1 -Wl,-Ttext=0xffffffff81000000 " +
            "-Wl,-z,noseparate-code -o " + (folder / "vmlinux") + " " + (folder / "kernel.c") + " 2>&1");
    command(cc + "-c -o " + (folder / "m.o") + " " + (folder / "m.c"));
    command(cc + "-c -o " + (folder / "o.o") + " " + (folder / "o.c"));
    command("ld -r --build-id=sha1 -o " + (folder / "my-fs.ko") + " " + (folder / "m.o") + " " +
            (folder / "o.o"));
    vmlinux = symbols::ElfImage::open(folder / "vmlinux");
    module = symbols::ElfImage::open(folder / "my-fs.ko");
    std::string notes("\4\0\0\0\24\0\0\0\3\0\0\0GNU\0", 16);
    for (size_t i = 0; i < vmlinux->buildId().size(); i += 2)
      notes += static_cast<char>(std::stoi(vmlinux->buildId().substr(i, 2), nullptr, 16));
    std::ofstream(folder / "notes") << notes;
    features.osRelease = "6.1.0-test";
    features.buildIds = {{-1, vmlinux->buildId(), "[kernel.kallsyms]", true},
                         {-1, module->buildId(), "[my_fs]", true}};
    options.home = folder / "home";
    options.debugRoots.clear();
    writeKallsyms(kMoved);
  }
  /// As the machine lists its symbols when its kernel was moved by `moved`.
  void writeKallsyms(uint64_t moved) const {
    std::ofstream out(folder / "kallsyms");
    for (const char* name : {"_text", "_stext", "do_work", "do_idle"})
      out << std::hex << *vmlinux->addressOfSymbol(name) + moved << " T " << name << "\n";
    out << std::hex << *vmlinux->addressOfSymbol("work_list") + moved << " D work_list\n";
    const uint64_t text = module->section(".text")->address;
    for (const char* name : {"fs_read", "fs_write"})
      out << std::hex << *module->addressOfSymbol(name) - text + kModuleStart << " t " << name
          << "\t[my_fs]\n";
    for (const char* name : {"seen", "twice"})
      out << std::hex << *module->addressOfSymbol(name) + kModuleData << " b " << name << "\t[my_fs]\n";
  }
  uint64_t kernelAddress(const char* symbol) const { return *vmlinux->addressOfSymbol(symbol) + kMoved; }
  uint64_t moduleAddress(const char* symbol) const {
    return *module->addressOfSymbol(symbol) - module->section(".text")->address + kModuleStart;
  }
  /// A recording's view of it; asks `running` only where that is given.
  struct View {
    View(const Machine& machine, const symbols::SymbolOptions& options, RunningKernel running)
        : binaries(machine.features, meta, options), code(machine.features, binaries, std::move(running)) {
      perfdata::Mmap map;
      map.kernel = true;
      map.address = kLinked + kMoved;
      map.length = 0x200000;
      map.pageOffset = kLinked + kMoved;
      map.file = "[kernel.kallsyms]_text";
      code.onMmap(map);
      map.address = kModuleStart;
      map.length = 0x4000;
      map.pageOffset = 0;
      map.file = "/lib/modules/6.1.0-test/kernel/fs/my-fs.ko";
      code.onMmap(map);
    }
    const Meta meta;
    Binaries binaries;
    KernelCode code;
  };
  RunningKernel none() const { return {folder / "absent", folder / "absent"}; }
  RunningKernel itself() const { return {folder / "notes", folder / "kallsyms"}; }

  TempFolder folder;
  perfdata::Features features;
  symbols::SymbolOptions options;
  std::shared_ptr<const symbols::ElfImage> vmlinux, module;
};

TEST(KernelCode, WithoutAnyFileTheObjectAndTheReasonAreLeft) {
  const Machine machine;
  Machine::View view(machine, machine.options, machine.none());
  const SharedName kernel = view.code.code(machine.kernelAddress("do_work"));
  EXPECT_EQ(kernel->symbol, "");
  EXPECT_EQ(kernel->object, "[kernel.kallsyms]");
  EXPECT_EQ(kernel->why, Unnamed::noKernel);
  const SharedName module = view.code.code(machine.moduleAddress("fs_read"));
  EXPECT_EQ(module->object, "[my_fs]");
  EXPECT_EQ(module->why, Unnamed::noKernel);
  EXPECT_EQ(view.code.code(0xffffffffe0000000)->object, "[unknown]");
  EXPECT_EQ(view.code.data(machine.kernelAddress("work_list")).why, Unnamed::noKernel);
  const auto states = view.code.states();
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].path, "[kernel.kallsyms]");
  EXPECT_EQ(states[0].buildId, machine.vmlinux->buildId());
  EXPECT_EQ(states[0].status, "missing");
  EXPECT_NE(states[0].detail.find("--vmlinux"), std::string::npos) << states[0].detail;
  EXPECT_NE(states[0].detail.find("another kernel"), std::string::npos) << states[0].detail;
}

TEST(KernelCode, VmlinuxNamesFunctionsLinesInlinesAndVariables) {
  Machine machine;
  machine.options.vmlinux = machine.folder / "vmlinux";
  Machine::View view(machine, machine.options, machine.none());
  const uint64_t work = machine.kernelAddress("do_work");
  bool inlined = false;
  for (uint64_t a = work; a < work + machine.vmlinux->functionAt(work - kMoved)->size; a++) {
    const SharedName name = view.code.code(a);
    EXPECT_EQ(name->symbol, "do_work");
    EXPECT_EQ(name->elfAddress, a - kMoved);
    EXPECT_TRUE(name->file.ends_with("kernel.c")) << name->file;
    EXPECT_GT(name->line, 0u);
    inlined |= name->inlined.size() == 2 && name->inlined[0].function == "finish";
  }
  EXPECT_TRUE(inlined);
  const KernelData& data = view.code.data(machine.kernelAddress("work_list") + 24);
  EXPECT_EQ(data.symbol, "work_list");
  EXPECT_EQ(data.offset, 24u);
  EXPECT_EQ(data.object, "[kernel.kallsyms]");
  ASSERT_TRUE(data.definition);
  EXPECT_TRUE(data.definition->file.ends_with("kernel.c"));
  EXPECT_EQ(view.code.states()[0].status, "ok");
}

TEST(KernelCode, AnotherKernelsVmlinuxIsRefused) {
  Machine machine;
  machine.options.vmlinux = machine.folder / "vmlinux";
  machine.features.buildIds[0].buildId = std::string(40, 'b');
  Machine::View view(machine, machine.options, machine.itself());
  EXPECT_EQ(view.code.code(machine.kernelAddress("do_work"))->symbol, "");
  EXPECT_NE(view.code.states()[0].detail.find("another build"), std::string::npos);
}

TEST(KernelCode, WithoutAReferenceAddressVmlinuxProvesNothing) {
  Machine machine;
  machine.options.vmlinux = machine.folder / "vmlinux";
  const Meta meta;
  Binaries binaries(machine.features, meta, machine.options);
  KernelCode code(machine.features, binaries, machine.none());
  perfdata::Mmap map;
  map.kernel = true;
  map.address = kLinked + kMoved;
  map.length = 0x200000;
  map.file = "[kernel.kallsyms]_text";  // pageOffset 0: kernel.kptr_restrict hid it
  code.onMmap(map);
  EXPECT_EQ(code.code(machine.kernelAddress("do_work"))->symbol, "");
  EXPECT_NE(code.states()[0].detail.find("kptr_restrict"), std::string::npos) << code.states()[0].detail;
}

TEST(KernelCode, KallsymsOfTheSameBoot) {
  const Machine machine;
  Machine::View view(machine, machine.options, machine.itself());
  const SharedName kernel = view.code.code(machine.kernelAddress("do_idle") + 3);
  EXPECT_EQ(kernel->symbol, "do_idle");
  EXPECT_EQ(kernel->why, Unnamed::noDebugInfo);
  EXPECT_EQ(view.code.code(machine.moduleAddress("fs_write") + 1)->symbol, "fs_write");
  EXPECT_EQ(view.code.data(machine.kernelAddress("work_list") + 8).symbol, "work_list");
  EXPECT_EQ(view.code.states()[0].status, "no debug info");
}

TEST(KernelCode, AfterARebootKallsymsNamesTheKernelAndNoModule) {
  const Machine machine;
  machine.writeKallsyms(0x1000000);
  Machine::View view(machine, machine.options, machine.itself());
  EXPECT_EQ(view.code.code(machine.kernelAddress("do_idle") + 3)->symbol, "do_idle");
  EXPECT_EQ(view.code.data(machine.kernelAddress("work_list")).symbol, "work_list");
  EXPECT_EQ(view.code.code(machine.moduleAddress("fs_write"))->symbol, "") << "modules move by themselves";
}

TEST(KernelCode, KallsymsOfAnotherKernelOrHiddenOnesAreNotUsed) {
  const Machine machine;
  std::ofstream(machine.folder / "othernotes") << std::string("\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd", 20);
  Machine::View other(machine, machine.options, {machine.folder / "othernotes", machine.folder / "kallsyms"});
  EXPECT_EQ(other.code.code(machine.kernelAddress("do_idle"))->symbol, "");
  std::ofstream(machine.folder / "kallsyms") << "0000000000000000 T _text\n0000000000000000 T do_idle\n";
  Machine::View hidden(machine, machine.options, machine.itself());
  EXPECT_EQ(hidden.code.code(machine.kernelAddress("do_idle"))->symbol, "");
  EXPECT_NE(hidden.code.states()[0].detail.find("hides its addresses"), std::string::npos)
      << hidden.code.states()[0].detail;
}

TEST(KernelCode, PerfsCopyOfKallsymsIsFoundByBuildId) {
  const Machine machine;
  const std::string cache = machine.folder / ("home/.debug/[kernel.kallsyms]/" + machine.vmlinux->buildId());
  std::filesystem::create_directories(cache);
  std::filesystem::copy(machine.folder / "kallsyms", cache + "/kallsyms");
  Machine::View view(machine, machine.options, machine.none());
  EXPECT_EQ(view.code.code(machine.kernelAddress("do_idle"))->symbol, "do_idle");
  EXPECT_EQ(view.code.code(machine.moduleAddress("fs_read"))->symbol, "fs_read");
}

TEST(KernelCode, AModulesFileNamesItsText) {
  Machine machine;
  machine.options.symfs = machine.folder / "target";
  const std::string place = machine.options.symfs + "/lib/modules/6.1.0-test/kernel/fs";
  std::filesystem::create_directories(place);
  std::filesystem::copy(machine.folder / "my-fs.ko", place + "/my-fs.ko");
  Machine::View view(machine, machine.options, machine.none());
  const SharedName name = view.code.code(machine.moduleAddress("fs_write") + 1);
  EXPECT_EQ(name->symbol, "fs_write");
  EXPECT_EQ(name->object, "[my_fs]");
  EXPECT_EQ(view.code.code(kModuleStart + 0x3000)->symbol, "") << "behind .text nobody knows what lies where";
  machine.features.buildIds[1].buildId = std::string(40, 'c');
  Machine::View other(machine, machine.options, machine.none());
  EXPECT_EQ(other.code.code(machine.moduleAddress("fs_write"))->symbol, "");
  EXPECT_NE(other.code.states()[0].detail.find("another build"), std::string::npos);
}

TEST(KernelCode, AModuleOutsideOfTheKernelsFolderIsFoundByItsName) {
  Machine machine;
  machine.options.symfs = machine.folder / "built";
  std::filesystem::create_directories(machine.options.symfs);
  const auto state = [&] {
    Machine::View view(machine, machine.options, machine.none());
    perfdata::Mmap map;
    map.kernel = true;
    map.address = kModuleStart;
    map.length = 0x4000;
    map.file = "[my_fs]";
    view.code.onMmap(map);
    const std::string symbol = view.code.code(machine.moduleAddress("fs_write"))->symbol;
    return symbol.empty() ? view.code.states().back().detail : symbol;
  };
  EXPECT_NE(state().find("give the folder that holds it (--symfs)"), std::string::npos) << state();
  std::filesystem::copy(machine.folder / "my-fs.ko", machine.options.symfs + "/my-fs.ko");
  EXPECT_EQ(state(), "fs_write");
}

TEST(KernelCode, AModulesFileSaysWhatItsCodeAndDataAre) {
  Machine machine;
  machine.options.symfs = machine.folder / "target";
  const std::string place = machine.options.symfs + "/lib/modules/6.1.0-test/kernel/fs";
  std::filesystem::create_directories(place);
  std::filesystem::copy(machine.folder / "my-fs.ko", place + "/my-fs.ko");
  Machine::View view(machine, machine.options, machine.itself());
  const SharedName name = view.code.code(machine.moduleAddress("fs_write") + 1);
  EXPECT_TRUE(name->file.ends_with("m.c")) << name->file;
  const KernelPlace code = view.code.place(machine.moduleAddress("fs_write"));
  EXPECT_EQ(code.elfAddress, *machine.module->addressOfSymbol("fs_write"));
  EXPECT_NE(code.binary, kNone);
  const uint64_t seen = *machine.module->addressOfSymbol("seen");
  const KernelData& data = view.code.data(seen + kModuleData + 8);
  EXPECT_EQ(data.symbol, "seen");
  EXPECT_EQ(data.object, "[my_fs]");
  EXPECT_EQ(data.offset, 8u);
  EXPECT_EQ(data.place.binary, code.binary);
  EXPECT_EQ(data.place.elfAddress, seen + 8);
  ASSERT_TRUE(data.definition);
  EXPECT_TRUE(data.definition->file.ends_with("m.c"));
  const KernelData& twice = view.code.data(*machine.module->addressOfSymbol("twice") + kModuleData);
  EXPECT_EQ(twice.symbol, "twice");
  EXPECT_EQ(twice.place.binary, kNone) << "which of the two nobody knows";
}

TEST(KernelCode, TheNewestModuleIsThereAndManyAreNoLoadForEachAddress) {
  const perfdata::Features features;
  const Meta meta;
  Binaries binaries(features, meta, {});
  KernelCode code(features, binaries, {"/absent", "/absent"});
  constexpr uint64_t kFirst = 0xffffffffc0000000, kSize = 0x100, kModules = 100'000;
  perfdata::Mmap map;
  map.kernel = true;
  map.address = 0xffffffff81000000;
  map.length = UINT64_MAX - map.address;
  map.file = "[kernel.kallsyms]_text";
  code.onMmap(map);
  for (uint64_t i = 0; i < kModules; i++) {
    map.address = kFirst + i * kSize;
    map.length = kSize;
    const std::string file = "/lib/modules/m" + std::to_string(i) + ".ko";
    map.file = file;
    code.onMmap(map);
  }
  map.address = kFirst + kSize;
  map.file = "/lib/modules/newer.ko";
  code.onMmap(map);
  // In as many steps as modules for each, this would not end.
  for (uint64_t i = 0; i < 1'000'000; i++) ASSERT_EQ(code.object(kFirst - 1 - i), "[kernel.kallsyms]");
  EXPECT_EQ(code.object(kFirst), "[m0]");
  EXPECT_EQ(code.object(kFirst + kSize), "[newer]");
  EXPECT_EQ(code.object(kFirst + 2 * kSize), "[m2]");
}

TEST(KernelCode, ManyBuildIdsAreNoLoadForEachModule) {
  constexpr uint64_t kFirst = 0xffffffffc0000000, kSize = 0x100, kModules = 100'000;
  perfdata::Features features;
  features.buildIds = {{-1, "aa", "/srv/other.ko", false}, {-1, "ab", "[kernel.kallsyms]", true}};
  for (uint64_t i = 0; i < kModules; i++)
    features.buildIds.push_back({-1, "ac", "/lib/modules/unused" + std::to_string(i) + ".ko", true});
  features.buildIds.push_back({-1, "ad", "/lib/modules/some-other.ko", true});
  features.buildIds.push_back({-1, "ae", "/lib/modules/other.ko", true});
  features.buildIds.push_back({-1, "af", "/lib/modules/updates/other.ko", true});
  const Meta meta;
  symbols::SymbolOptions options;
  options.home = "/absent";
  options.debugRoots.clear();
  Binaries binaries(features, meta, options);
  KernelCode code(features, binaries, {"/absent", "/absent"});
  perfdata::Mmap map;
  map.kernel = true;
  map.length = kSize;
  const auto load = [&](uint64_t number, const std::string& file) {
    map.address = kFirst + number * kSize;
    map.file = file;
    code.onMmap(map);
  };
  // In as many steps as build ids for each, this would not end.
  for (uint64_t i = 0; i < kModules; i++) load(i, "/lib/modules/m" + std::to_string(i) + ".ko");
  load(kModules, "/lib/modules/other.ko");
  load(kModules + 1, "[kernel.kallsyms]_text");
  for (const uint64_t number : {uint64_t{0}, kModules, kModules + 1}) code.code(kFirst + number * kSize);
  std::map<std::string, std::string> buildIds;
  for (const BinaryState& state : code.states()) buildIds[state.path] = state.buildId;
  EXPECT_EQ(buildIds,
            (std::map<std::string, std::string>{
                {"[kernel.kallsyms]", "ab"}, {"/lib/modules/m0.ko", ""}, {"/lib/modules/other.ko", "ae"}}));
}

TEST(KernelCode, KsymbolsNameCodeThatCameAndWent) {
  const Machine machine;
  Machine::View view(machine, machine.options, machine.itself());
  perfdata::Ksymbol symbol;
  const auto add = [&](uint64_t address, uint32_t length, uint64_t time, const char* name,
                       bool gone = false) {
    symbol = {address, length, gone, time, name};
    view.code.onKsymbol(symbol);
  };
  constexpr uint64_t kBpf = 0xffffffffc0800000;
  add(kBpf, 0x80, 100, "bpf_prog_one");
  add(kBpf + 0x100, 0x1000, 110, "bpf_trampoline_7");
  add(kBpf, 0x80, 200, "bpf_prog_one", true);
  add(kBpf, 0x40, 300, "bpf_prog_two");
  EXPECT_EQ(view.code.code(kBpf + 8, 150)->symbol, "bpf_prog_one");
  EXPECT_EQ(view.code.code(kBpf + 8, 250)->symbol, "") << "between the two";
  EXPECT_EQ(view.code.code(kBpf + 8, 300)->symbol, "bpf_prog_two");
  EXPECT_EQ(view.code.code(kBpf + 8)->symbol, "bpf_prog_two") << "without a time the last one";
  EXPECT_EQ(view.code.code(kBpf + 0x50)->object, "bpf_prog_one");
  EXPECT_EQ(view.code.code(kBpf + 0x10ff)->symbol, "bpf_trampoline_7");
  EXPECT_EQ(view.code.code(kBpf + 0x1100)->symbol, "");
  EXPECT_EQ(view.code.code(kBpf + 0x80)->object, "[unknown]");
  EXPECT_EQ(view.code.code(machine.kernelAddress("do_idle"))->symbol, "do_idle");
}

TEST(KernelCode, AGuestsKernelIsNotNamedByTheHosts) {
  Machine machine;
  machine.options.vmlinux = machine.folder / "vmlinux";
  const Meta meta;
  Binaries binaries(machine.features, meta, machine.options);
  KernelCode code(machine.features, binaries, machine.itself());
  perfdata::Mmap map;
  map.kernel = true;
  map.address = map.pageOffset = kLinked + kMoved;
  map.length = 0x200000;
  map.file = "[guest.kernel.kallsyms]_text";
  code.onMmap(map);
  EXPECT_EQ(code.code(machine.kernelAddress("do_work"))->symbol, "");
  EXPECT_EQ(code.code(machine.kernelAddress("do_work"))->object, "[guest.kernel.kallsyms]");
}

TEST(KernelCode, AgreesWithPerfScript) {
  if (std::system("command -v perf >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "needs perf: apt-get install linux-perf";
  Machine machine;
  RecordBuilder builder;
  perf_event_attr attr = perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
  builder.event(attr, "cpu-clock", {1});
  builder.thread(UINT32_MAX, 0);
  builder.mmap({.address = kLinked + kMoved,
                .length = 0x200000,
                .pageOffset = kLinked + kMoved,
                .misc = PERF_RECORD_MISC_KERNEL,
                .file = "[kernel.kallsyms]_text"});
  builder.thread(7, 7).at(1000).comm("worker");
  std::vector<uint64_t> addresses;
  for (const char* function : {"do_work", "do_idle"}) {
    const symbols::Symbol* symbol = machine.vmlinux->functionAt(*machine.vmlinux->addressOfSymbol(function));
    for (uint64_t i = 0; i < symbol->size; i += 3) addresses.push_back(symbol->address + kMoved + i);
  }
  uint64_t time = 2000;
  for (uint64_t address : addresses)
    builder.at(time += 1000).sample({.ip = address, .misc = PERF_RECORD_MISC_KERNEL});
  builder.write(machine.folder / "perf.data");

  machine.options.vmlinux = machine.folder / "vmlinux";
  Machine::View view(machine, machine.options, machine.none());
  std::istringstream judged(command("perf script -i " + (machine.folder / "perf.data") + " --vmlinux " +
                                    machine.options.vmlinux + " -F ip,sym,srcline 2>/dev/null"));
  size_t compared = 0;
  for (std::string line, place; std::getline(judged, line) && std::getline(judged, place); compared++) {
    std::istringstream words(line);
    std::string ip, symbol;
    words >> ip >> symbol;
    ASSERT_LT(compared, addresses.size());
    EXPECT_EQ(std::stoull(ip, nullptr, 16), addresses[compared]);
    const SharedName name = view.code.code(addresses[compared]);
    EXPECT_EQ(name->symbol, symbol) << line;
    place = place.substr(place.find_first_not_of(' '));
    EXPECT_EQ(name->file.substr(name->file.rfind('/') + 1) + ":" + std::to_string(name->line), place) << line;
  }
  EXPECT_EQ(compared, addresses.size());
}

}  // namespace
}  // namespace cacheline::analysis
