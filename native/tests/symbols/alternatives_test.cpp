// The kernel's code after boot, in all forms of its table of alternatives. objdump's bytes are the judge of
// what the compiler wrote.
#include <gtest/gtest.h>

#include "fixture.h"
#include "symbols/elf_image.h"

namespace cacheline::symbols {
namespace {

using test::compile;

/// `flags` and `padding` stand around the lengths of an entry.
std::string codeWith(const std::string& flags, const std::string& padding) {
  const auto alternative = [&](const std::string& name, const std::string& from, const std::string& to) {
    return name + ": " + from + "\n 1: .pushsection .altinstructions, \"a\"\n .long " + name +
           " - ., 2f - .\n " + flags + "\n .byte 1b - " + name + ", 3f - 2f\n " + padding +
           "\n .popsection\n .pushsection .altinstr_replacement, \"ax\"\n 2: " + to + "\n 3: .popsection\n";
  };
  return ".globl _start, plain, unlock, twice\n.text\n_start:\n" +
         alternative("unlock", "call *table(%rip)", "movb $0, (%rdi)") +
         alternative("plain", "nop; nop; nop", "clac") +
         // Some kernels say twice: a call always, and what is better where it fits.
         alternative("twice", "call *table", "call _start") +
         ".pushsection .altinstructions, \"a\"\n .long twice - ., 4f - .\n " + flags +
         "\n .byte 7, 5f - 4f\n " + padding +
         "\n .popsection\n .pushsection .altinstr_replacement, \"ax\"\n 4: mov %rdi, %rax\n 5: "
         ".popsection\n" +
         " ret\n.data\ntable: .quad 0\n";
}

std::vector<uint8_t> bytesOf(const ElfImage& image, const char* symbol, uint64_t size) {
  const auto bytes = image.bytesAt(image.addressOfSymbol(symbol).value(), size);
  return {bytes.begin(), bytes.end()};
}

void expectReplaced(const ElfImage& image) {
  EXPECT_EQ(bytesOf(image, "unlock", 6), (std::vector<uint8_t>{0xc6, 0x07, 0x00, 0x90, 0x90, 0x90}));
  EXPECT_EQ(bytesOf(image, "plain", 3), (std::vector<uint8_t>{0x90, 0x90, 0x90})) << "a choice of processors";
  EXPECT_EQ(bytesOf(image, "twice", 7), (std::vector<uint8_t>{0x48, 0x89, 0xf8, 0x90, 0x90, 0x90, 0x90}));
}

TEST(Alternatives, CallsThroughATableAreReplacedInAllFormsOfTheTable) {
  const test::TempDir dir;
  const std::pair<const char*, const char*> kForms[] = {
      {".word 0x8114", ""}, {".word 0x114", ".byte 0"}, {".long 0x10114", ""}};
  for (const auto& [flags, padding] : kForms) {
    SCOPED_TRACE(std::string(flags) + padding);
    const std::string code = codeWith(flags, padding);
    expectReplaced(*ElfImage::open(compile(dir, "linked", "s", code, "-static -no-pie -nostdlib")));
    expectReplaced(*ElfImage::open(compile(dir, "module", "s", code, "-c")));
  }
}

TEST(Alternatives, ATableThatPointsElsewhereChangesNothing) {
  const test::TempDir dir;
  const std::string code = codeWith(".word 0x8114", "") +
                           ".section .altinstructions, \"a\"\n .long 0x7fffffff, 0\n .word 0\n .byte 6, 0\n";
  const auto image = ElfImage::open(compile(dir, "lies", "s", code, "-static -no-pie -nostdlib"));
  EXPECT_EQ(bytesOf(*image, "unlock", 2), (std::vector<uint8_t>{0xff, 0x15}));
}

}  // namespace
}  // namespace cacheline::symbols
