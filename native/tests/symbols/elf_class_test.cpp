// Binaries of other machines: 32-bit and big-endian ELF files, kernel-module objects, and separate debug
// files that must serve alone. `nm` and `addr2line` are the judges.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "fixture.h"
#include "symbols/inspect.h"
#include "symbols/module.h"
#include "symbols/relocation.h"

namespace cacheline::symbols {
namespace {

using namespace test;

const char* const kFreestanding = R"code(
struct Pair { int* left; long right; };
struct Pair pairs[3] = {{0, 1}};  // @pairs
static int* lone[2];              // @lone
static inline int add(int* to, int by) {
  return *to += by;  // @add
}
__attribute__((noinline)) int work(int* at, int by) {
  static short calls = 1;  // @calls
  calls = (short)(calls + by);
  return add(at, by) +  // @first
         add(at, 2);    // @second
}
int _start(void) {
  lone[1] = lone[0];
  return work(lone[0], (int)pairs[1].right);
}
)code";

TEST(ElfClass, ThirtyTwoBitSymbolsVariablesAndLines) {
  NEED_TOOL("nm", "binutils");
  NEED_TOOL("addr2line", "binutils");
  TempDir dir;
  const std::string source = kFreestanding;
  const std::string binary = compile(dir, "p", "c", source, "-m32 -g -O1 -nostdlib -static -fno-pic -no-pie");
  expectSymbolsOfNm(binary, 2);
  const auto module = Module::open(binary, readBuildId(binary));
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  const ElfImage& image = *module->image();
  EXPECT_EQ(image.machine(), EM_386);
  EXPECT_EQ(image.buildId().size(), 40u);
  const auto pairs = image.addressOfSymbol("pairs");
  ASSERT_TRUE(pairs);
  const auto variable = module->variableAt(*pairs + 20);
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->name, "pairs");
  EXPECT_EQ(variable->size, 24u) << "pointers and longs have 4 bytes";
  EXPECT_EQ(variable->line, lineOf(source, "pairs"));
  const auto lone = module->variableAt(*image.addressOfSymbol("lone"));
  ASSERT_TRUE(lone);
  EXPECT_EQ(lone->size, 8u);

  const Symbol* work = image.functionAt(*image.addressOfSymbol("work"));
  for (uint64_t a = work->address; a < work->address + work->size; a++) {
    std::ostringstream hex;
    hex << std::hex << a;
    std::istringstream judged(mustRun("addr2line -fi -e " + binary + " 0x" + hex.str()));
    std::vector<std::string> functions, places;
    for (std::string function, place; std::getline(judged, function) && std::getline(judged, place);) {
      functions.push_back(function);
      places.push_back(place.substr(0, place.find(" (")));
    }
    const auto frames = module->framesAt(a);
    ASSERT_EQ(frames.size(), functions.size()) << hex.str();
    for (size_t i = 0; i < frames.size(); i++) {
      EXPECT_EQ(frames[i].function, functions[i]) << hex.str();
      EXPECT_EQ(frames[i].file + ":" + std::to_string(frames[i].line), places[i]) << hex.str();
    }
  }
}

/// The bytes of a structure in the other byte order, put together field by field.
class BigEndian {
 public:
  template <typename T>
  BigEndian& put(T value) {
    for (size_t i = sizeof(T); i-- > 0;) bytes += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string bytes;
};

TEST(ElfClass, PowerPcDescriptorsLeadToTheCode) {
  TempDir dir;
  const std::string names("\0.text\0.opd\0.symtab\0.strtab\0work\0", 33);
  // Layout: header 64, .text 16 at 64, .opd 24 at 80, .symtab 2 * 24 at 104, names at 152, sections at 192.
  constexpr uint64_t kText = 0x10000, kOpd = 0x20000;
  BigEndian file;
  file.bytes.assign(
      "\x7f"
      "ELF\x02\x02\x01\0\0\0\0\0\0\0\0\0",
      EI_NIDENT);
  file.put<uint16_t>(ET_EXEC).put<uint16_t>(EM_PPC64).put<uint32_t>(1).put<uint64_t>(kOpd).put<uint64_t>(0);
  file.put<uint64_t>(192).put<uint32_t>(1).put<uint16_t>(64).put<uint16_t>(0).put<uint16_t>(0);
  file.put<uint16_t>(64).put<uint16_t>(6).put<uint16_t>(5);
  file.bytes.append(16, '\x60');                                    // .text
  file.put<uint64_t>(kText + 4).put<uint64_t>(0).put<uint64_t>(0);  // .opd: entry, TOC, environment
  file.bytes.append(24, '\0');                                      // symbol 0
  file.put<uint32_t>(28).put<uint8_t>(STB_GLOBAL << 4 | STT_FUNC).put<uint8_t>(0).put<uint16_t>(2);
  file.put<uint64_t>(kOpd).put<uint64_t>(8);
  file.bytes += names;
  file.bytes.resize(192, '\0');
  const auto section = [&](uint32_t name, uint32_t type, uint64_t flags, uint64_t address, uint64_t offset,
                           uint64_t size, uint32_t link) {
    file.put(name).put(type).put(flags).put(address).put(offset).put(size).put(link).put<uint32_t>(0);
    file.put<uint64_t>(8).put<uint64_t>(0);
  };
  section(0, SHT_NULL, 0, 0, 0, 0, 0);
  section(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kText, 64, 16, 0);
  section(7, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, kOpd, 80, 24, 0);
  section(12, SHT_SYMTAB, 0, 0, 104, 48, 4);
  section(20, SHT_STRTAB, 0, 0, 152, 33, 0);
  section(20, SHT_STRTAB, 0, 0, 152, 33, 0);
  writeFile(dir.file("p"), file.bytes);
  const auto image = ElfImage::open(dir.file("p"));
  EXPECT_EQ(image->sectionAt(kText), ".text");
  const Symbol* work = image->functionAt(kText + 11);
  ASSERT_NE(work, nullptr);
  EXPECT_EQ(work->name, "work");
  EXPECT_EQ(work->address, kText + 4);
  EXPECT_EQ(work->size, 8u);
  EXPECT_EQ(image->functionAt(kText), nullptr);
  EXPECT_EQ(image->functionAt(kOpd), nullptr) << "a descriptor is no code";
}

TEST(ElfClass, SectionsOfAKernelModuleGetAddressesOfTheirOwn) {
  NEED_TOOL("objcopy", "binutils");
  TempDir dir;
  const std::string object =
      compile(dir, "m.ko", "c", kFreestanding, "-g -O1 -c -ffunction-sections -fdata-sections");
  const auto image = ElfImage::open(object);
  EXPECT_TRUE(image->isRelocatable());
  const auto text = image->section(".text.work");
  ASSERT_TRUE(text);
  const auto work = image->addressOfSymbol("work");
  ASSERT_TRUE(work);
  EXPECT_EQ(*work, text->address);
  EXPECT_EQ(image->functionAt(*work + 1)->name, "work");
  EXPECT_EQ(image->functionAt(*image->addressOfSymbol("_start"))->name, "_start");
  EXPECT_NE(*image->addressOfSymbol("_start"), *work) << "sections do not lie over each other";
  EXPECT_EQ(image->dataAt(*image->addressOfSymbol("pairs") + 30)->name, "pairs");
  mustRun("cd " + dir.path() + " && objcopy --only-keep-debug m.ko m.debug");
  EXPECT_EQ(ElfImage::open(dir.file("m.debug"))->addressOfSymbol("work"), work)
      << "the separate debug file has the same layout";
}

TEST(ElfClass, TheCodeOfAKernelModuleNamesItsDataAndNothingElse) {
  NEED_TOOL("objdump", "binutils");
  TempDir dir;
  const std::string object = compile(
      dir, "m.ko", "c", "extern long kernels; long own = 1; long read(void) { return own + kernels; }",
      "-g -O1 -c -fno-pic -mcmodel=kernel -fcf-protection=none");
  const auto image = ElfImage::open(object);
  const uint64_t code = *image->addressOfSymbol("read"), own = *image->addressOfSymbol("own");
  const auto bytes = image->bytesAt(code, 64);
  ASSERT_GE(bytes.size(), 14u);
  std::vector<uint64_t> named;  // by the two instructions with %rip, of 7 bytes, displacement last
  for (size_t at = 0; at < 14; at += 7) {
    int32_t displacement = 0;
    std::memcpy(&displacement, bytes.data() + at + 3, sizeof displacement);
    named.push_back(code + at + 7 + static_cast<uint64_t>(int64_t{displacement}));
  }
  std::sort(named.begin(), named.end());
  EXPECT_EQ(named, (std::vector<uint64_t>{own, kElsewhere}));
  EXPECT_EQ(image->sectionAt(kElsewhere), "");
  EXPECT_TRUE(image->bytesAt(own, 8).empty()) << "code alone";
}

TEST(ElfClass, RelocationsThatLieOutsideAreLeftOut) {
  TempDir dir;
  const std::string object = compile(dir, "m.ko", "c", kFreestanding, "-g -O1 -c");
  const std::string whole = readFile(object);
  const Bytes bytes{reinterpret_cast<const uint8_t*>(whole.data()), whole.size()};
  const ElfFile file = ElfFile::parse(bytes, object);
  size_t asked = 0;
  for (uint32_t i = 0; i < file.sections.size(); ++i) {
    if (!file.sections[i].name.starts_with(".debug_")) continue;
    for (const size_t size : {size_t{0}, size_t{3}, file.sections[i].bytes.size() / 2}) {
      std::vector<uint8_t> part(file.sections[i].bytes.begin(), file.sections[i].bytes.begin() + size);
      EXPECT_EQ(Relocations(file).apply(i, part), std::nullopt);
      ++asked;
    }
  }
  EXPECT_GT(asked, 0u);
}

class DebugOnly : public testing::TestWithParam<std::string> {};

TEST_P(DebugOnly, KnowsTheFileOffsetsOfTheProgram) {
  NEED_TOOL("objcopy", "binutils");
  TempDir dir;
  const std::string whole = compile(dir, "p", "cpp", scopesSource(), "-g -O1 " + GetParam());
  mustRun("cd " + dir.path() + " && objcopy --only-keep-debug p p.debug");
  const auto image = ElfImage::open(whole), debug = ElfImage::open(dir.file("p.debug"));
  EXPECT_FALSE(image->isDebugOnly());
  ASSERT_TRUE(debug->isDebugOnly());
  size_t compared = 0;
  for (const Segment& segment : image->segments())
    for (uint64_t offset = 0; offset < segment.fileSize; offset += 61, compared++)
      EXPECT_EQ(debug->addressOfFileOffset(segment.fileOffset + offset), segment.address + offset);
  EXPECT_GT(compared, 40u);
  const uint64_t work = *image->addressOfSymbol("_ZN3app4workEPNS_7CounterEi");
  EXPECT_TRUE(debug->bytesAt(work, 4).empty()) << "no code in a debug file";
  const auto frames = Module::open(dir.file("p.debug"), "")->framesAt(work);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().function, "app::work(app::Counter*, int)");
}
INSTANTIATE_TEST_SUITE_P(Links, DebugOnly,
                         testing::Values("-pie", "-no-pie", "-shared -fPIC", "-static",
                                         "-Wl,-z,noseparate-code", "-Wl,-z,max-page-size=65536"));

}  // namespace
}  // namespace cacheline::symbols
