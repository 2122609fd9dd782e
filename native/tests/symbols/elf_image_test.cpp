// ElfImage and inspectBinary over compiled programs, hand-written assembly and damaged files; `nm` as a
// judge.
#include "symbols/elf_image.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <random>

#include "base/error.h"
#include "fixture.h"
#include "symbols/inspect.h"

namespace cacheline::symbols {
namespace {

using namespace test;
using Kind = BinaryInfo::Kind;

const char* const kTinyC = "int counter = 3; int main(void) { return counter; }\n";

TEST(ElfImage, AliasesLabelsAndSizelessSymbols) {
  TempDir dir;
  const std::string source = R"(
    asm(".text\n"
        ".globl sized\n.type sized,@function\nsized: nop\nnop\ninside: nop\nnop\n.size sized, 4\n"
        "nop\nnop\n"                                       // padding that belongs to nobody
        ".globl open1\n.type open1,@function\nopen1: nop\nnop\nnop\n"
        ".globl open2\n.type open2,@function\nopen2: nop\n"
        ".type local_alias,@function\nlocal_alias:\n.weak weak_alias\n.type weak_alias,@function\nweak_alias:\n"
        ".globl strong_alias\n.type strong_alias,@function\nstrong_alias: nop\nnop\n"
        ".size local_alias,2\n.size weak_alias,2\n.size strong_alias,2\n"
        ".data\n.globl outer\n.type outer,@object\nouter: .quad 0\n"
        ".globl member\n.type member,@object\nmember: .quad 0\n.size member,8\n.size outer,16\n");
    int main(void) { return 0; }
  )";
  auto image = ElfImage::open(compile(dir, "asm", "c", source, "-O0"));
  const uint64_t sized = *addressOf(*image, "sized");
  EXPECT_EQ(image->functionAt(sized + 2)->name, "sized") << "a label inside does not take over";
  EXPECT_EQ(image->functionAt(sized + 3)->name, "sized");
  EXPECT_EQ(image->functionAt(sized + 4), nullptr);
  EXPECT_EQ(image->functionAt(sized + 5), nullptr);
  EXPECT_EQ(image->functionAt(sized + 6)->name, "open1");
  EXPECT_EQ(image->functionAt(sized + 8)->name, "open1") << "reaches to the next";
  EXPECT_EQ(image->functionAt(sized + 9)->name, "open2");
  EXPECT_EQ(image->functionAt(sized + 10)->name, "strong_alias");
  EXPECT_EQ(image->functionAt(sized + 11)->size, 2u);
  const uint64_t outer = *addressOf(*image, "outer");
  EXPECT_EQ(image->dataAt(outer + 8)->name, "outer") << "the outermost object covers its parts";
  EXPECT_EQ(image->sectionAt(outer), ".data");
  EXPECT_EQ(image->dataAt(sized), nullptr);
  EXPECT_EQ(image->functionAt(outer), nullptr);
}

class AgainstNm : public testing::TestWithParam<std::string> {};

TEST_P(AgainstNm, EverySymbolIsFoundAtItsAddress) {
  NEED_TOOL("nm", "binutils");
  TempDir dir;
  expectSymbolsOfNm(compile(dir, "p", "cpp", scopesSource(), GetParam()), 5);
}
INSTANTIATE_TEST_SUITE_P(Links, AgainstNm,
                         testing::Values("-O2", "-O2 -static", "-O1 -no-pie", "-O2 -shared -fPIC", "-O0 -g"));

TEST(ElfImage, APageOfTwoSegmentsBelongsToTheOneThatBeginsLast) {
  // As lld links: the second segment's file bytes follow the first one's, its addresses a page later.
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  const Elf64_Phdr segments[] = {{.p_type = PT_LOAD,
                                  .p_flags = PF_R | PF_W,
                                  .p_offset = 0x900,
                                  .p_vaddr = 0x2900,
                                  .p_paddr = 0x2900,
                                  .p_filesz = 0x900,
                                  .p_memsz = 0xf00,
                                  .p_align = 0x1000},
                                 {.p_type = PT_LOAD,
                                  .p_flags = PF_R | PF_W,
                                  .p_offset = 0x1200,
                                  .p_vaddr = 0x4200,
                                  .p_paddr = 0x4200,
                                  .p_filesz = 0x100,
                                  .p_memsz = 0x200,
                                  .p_align = 0x1000}};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(segments), sizeof segments);
  bytes.resize(0x2000);
  TempDir dir;
  std::ofstream(dir.file("p"), std::ios::binary) << bytes;
  const auto image = ElfImage::open(dir.file("p"));
  EXPECT_EQ(image->addressOfFileOffset(0x1100), 0x3100u);
  EXPECT_EQ(image->addressOfFileOffset(0x12ff), 0x42ffu);
  EXPECT_EQ(image->addressOfFileOffset(0x1304), 0x4304u) << "behind the bytes of both";
  EXPECT_EQ(image->addressOfFileOffset(0x800), 0x2800u) << "before the bytes of the first";
}

TEST(ElfImage, BytesAndOffsetsFollowTheSegments) {
  TempDir dir;
  const std::string binary = compile(dir, "p", "c", kTinyC, "-O1");
  auto image = ElfImage::open(binary);
  const std::string content = readFile(binary);
  const uint64_t main = *addressOf(*image, "main"), counter = *addressOf(*image, "counter");
  int executable = 0;
  for (const Segment& segment : image->segments()) {
    for (uint64_t offset = segment.fileOffset; offset < segment.fileOffset + segment.fileSize; offset += 97) {
      const auto address = image->addressOfFileOffset(offset);
      ASSERT_TRUE(address);
      EXPECT_EQ(*address, segment.address + offset - segment.fileOffset);
      const auto bytes = image->bytesAt(*address, 1);
      ASSERT_EQ(bytes.size(), 1u);
      EXPECT_EQ(bytes[0], static_cast<uint8_t>(content[offset]));
    }
    EXPECT_LE(image->bytesAt(segment.address, UINT64_MAX).size(), segment.fileSize);
    executable += segment.executable && segment.address <= main && main < segment.address + segment.fileSize;
  }
  EXPECT_EQ(executable, 1);
  int value = 0;
  std::memcpy(&value, image->bytesAt(counter, 4).data(), 4);
  EXPECT_EQ(value, 3);
  EXPECT_TRUE(image->bytesAt(0x7fff00000000, 16).empty());
  EXPECT_FALSE(image->addressOfFileOffset(uint64_t{1} << 40));
  EXPECT_EQ(image->machine(), EM_X86_64);
}

TEST(ElfImage, BuildIds) {
  TempDir dir;
  const std::string with = compile(dir, "a", "c", kTinyC, "-Wl,--build-id=0xDEADBEEF01");
  EXPECT_EQ(ElfImage::open(with)->buildId(), "deadbeef01");
  EXPECT_EQ(readBuildId(with), "deadbeef01");
  const std::string without = compile(dir, "b", "c", kTinyC, "-Wl,--build-id=none");
  EXPECT_EQ(ElfImage::open(without)->buildId(), "");
  EXPECT_EQ(readBuildId(without), "");
  EXPECT_EQ(readBuildId(dir.file("absent")), "");
  EXPECT_EQ(readBuildId(dir.path()), "");
  // Without section headers only PT_NOTE is left.
  std::string bytes = readFile(with);
  std::memset(bytes.data() + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
  writeFile(dir.file("c"), bytes);
  EXPECT_EQ(readBuildId(dir.file("c")), "deadbeef01");
}

TEST(ElfImage, OtherFilesAreRefusedWithTheReason) {
  TempDir dir;
  const auto messageOf = [&](const std::string& content) -> std::string {
    writeFile(dir.file("x"), content);
    try {
      ElfImage::open(dir.file("x"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unreadable);
      return error.what();
    }
    return "opened";
  };
  EXPECT_NE(messageOf("").find("not an ELF file"), std::string::npos);
  EXPECT_NE(messageOf("#!/bin/sh\n").find("not an ELF file"), std::string::npos);
  EXPECT_NE(messageOf(std::string("\x7f"
                                  "ELF\x02\x01\x01",
                                  7))
                .find("ends inside"),
            std::string::npos);
  EXPECT_NE(messageOf(std::string("\x7f"
                                  "ELF\x03\x01\x01",
                                  7) +
                      std::string(80, '\0'))
                .find("class 3"),
            std::string::npos);
  EXPECT_NE(messageOf(std::string("\x7f"
                                  "ELF\x02\x03\x01",
                                  7) +
                      std::string(80, '\0'))
                .find("byte order 3"),
            std::string::npos);
}

/// Every question once, over addresses in and around the segments.
size_t askEverything(const ElfImage& image) {
  size_t answers = 0;
  std::vector<uint64_t> addresses{0, 1, 0x1000, UINT64_MAX, UINT64_MAX - 1};
  for (const Segment& s : image.segments())
    for (uint64_t offset : {uint64_t{0}, uint64_t{1}, s.fileSize, s.memorySize, s.memorySize - 1})
      addresses.push_back(s.address + offset);
  for (uint64_t address : addresses) {
    answers += image.functionAt(address) != nullptr;
    answers += image.dataAt(address) != nullptr;
    answers += image.sectionAt(address).size() + image.bytesAt(address, 64).size();
    answers += image.addressOfFileOffset(address).has_value();
  }
  return answers;
}

TEST(ElfImage, TruncatedAndLyingFilesAreReadAsFarAsTheyGo) {
  TempDir dir;
  const std::string whole = readFile(compile(dir, "p", "c", kTinyC, "-g -O1"));
  for (size_t size = 64; size < whole.size(); size += 211) {
    writeFile(dir.file("cut"), whole.substr(0, size));
    askEverything(*ElfImage::open(dir.file("cut")));
  }
  std::mt19937_64 random(3);
  for (int round = 0; round < 400; round++) {
    std::string bytes = whole;
    for (int i = 0; i < 6; i++) {  // lies in the headers: the file's, the program's, the sections'
      uint64_t shoff;
      std::memcpy(&shoff, whole.data() + offsetof(Elf64_Ehdr, e_shoff), 8);
      const bool sections = random() % 2 == 0;
      const size_t at = sections ? shoff + random() % (whole.size() - shoff - 8) : 16 + random() % 700;
      const uint64_t lie = random() % 3 == 0 ? UINT64_MAX >> (random() % 64) : random();
      std::memcpy(bytes.data() + at, &lie, 1 + random() % 8);
    }
    writeFile(dir.file("lie"), bytes);
    askEverything(*ElfImage::open(dir.file("lie")));
    inspectBinary(dir.file("lie"));
  }
}

TEST(InspectBinary, TellsTheKindsApart) {
  TempDir dir;
  const auto kind = [](const std::string& path) { return inspectBinary(path).kind; };
  const BinaryInfo pie = inspectBinary(compile(dir, "pie", "c", kTinyC, "-g"));
  EXPECT_EQ(pie.kind, Kind::executable);
  EXPECT_TRUE(pie.debugInfo);
  EXPECT_TRUE(pie.symbolTable);
  EXPECT_FALSE(pie.staticallyLinked);
  EXPECT_EQ(pie.architecture, "x86_64");
  EXPECT_EQ(pie.buildId, readBuildId(dir.file("pie")));
  EXPECT_EQ(kind(compile(dir, "exec", "c", kTinyC, "-no-pie")), Kind::executable);
  const BinaryInfo stripped = inspectBinary(compile(dir, "static", "c", kTinyC, "-static -s"));
  EXPECT_EQ(stripped.kind, Kind::executable);
  EXPECT_TRUE(stripped.staticallyLinked);
  EXPECT_FALSE(stripped.debugInfo);
  EXPECT_FALSE(stripped.symbolTable);
  EXPECT_EQ(kind(compile(dir, "staticpie", "c", kTinyC, "-static-pie")), Kind::executable);
  EXPECT_TRUE(inspectBinary(dir.file("staticpie")).staticallyLinked);
  EXPECT_EQ(kind(compile(dir, "lib.so", "c", kTinyC, "-shared -fPIC")), Kind::sharedLibrary);
  EXPECT_EQ(kind(compile(dir, "object.o", "c", kTinyC, "-c")), Kind::otherElf);
  writeFile(dir.file("script"), "#! /usr/bin/env python3\nprint()\n");
  const BinaryInfo script = inspectBinary(dir.file("script"));
  EXPECT_EQ(script.kind, Kind::script);
  EXPECT_EQ(script.interpreter, "/usr/bin/env");
  EXPECT_EQ(script.architecture, "");
  writeFile(dir.file("text"), "hello\n");
  EXPECT_EQ(kind(dir.file("text")), Kind::notAProgram);
  writeFile(dir.file("empty"), "");
  EXPECT_EQ(kind(dir.file("empty")), Kind::notAProgram);
  EXPECT_EQ(kind(dir.path()), Kind::notAProgram);
  EXPECT_EQ(kind(dir.file("absent")), Kind::unreadable);
}

TEST(InspectBinary, ReadsHeadersOnly) {
  TempDir dir;
  const std::string binary = compile(dir, "p", "cpp", scopesSource(), "-g -static");
  const auto start = std::chrono::steady_clock::now();
  constexpr int kRounds = 200;
  for (int i = 0; i < kRounds; i++) inspectBinary(binary);
  const double microseconds =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kRounds;
  EXPECT_LT(microseconds, 5000) << "per file; a generous bound for a busy machine";
}

}  // namespace
}  // namespace cacheline::symbols
