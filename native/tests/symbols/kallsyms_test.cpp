// kallsyms texts: aliases, modules, hidden addresses; this machine's own as a judge of the parser.
#include "symbols/kallsyms.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "fixture.h"

namespace cacheline::symbols {
namespace {

using namespace test;

const char* const kText =
    "ffffffff81000000 T srso_alias_untrain_ret\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 t do_one\n"
    "ffffffff81000100 T __do_global\n"
    "ffffffff81000100 T do_global\n"
    "ffffffff81000100 W do_weaker_than_all\n"
    "ffffffff82000000 D jiffies\n"
    "ffffffff82000000 D jiffies_64\n"
    "not a line\n"
    "ffffffff82000080 B\n"
    "ffffffffc0001000 t ext4_init\t[ext4]\n"
    "ffffffffc0002000 b ext4_list\t[ext4]";

TEST(Kallsyms, TheBestAliasNamesAnAddress) {
  const Kallsyms kernel(kText);
  EXPECT_FALSE(kernel.hidden());
  EXPECT_EQ(kernel.at(0xffffffff80ffffff), nullptr);
  EXPECT_EQ(kernel.at(0xffffffff81000000)->name, "srso_alias_untrain_ret");
  EXPECT_EQ(kernel.at(0xffffffff81000fff)->name, "do_global");
  EXPECT_TRUE(kernel.at(0xffffffff81000fff)->code);
  EXPECT_EQ(kernel.at(0xffffffff82000004)->name, "jiffies_64");
  EXPECT_FALSE(kernel.at(0xffffffff82000004)->code);
  EXPECT_EQ(kernel.at(0xffffffffc0001fff)->name, "ext4_init");
  EXPECT_EQ(kernel.at(0xffffffffc0001fff)->module, "ext4");
  EXPECT_EQ(kernel.at(UINT64_MAX)->name, "ext4_list");
  EXPECT_EQ(kernel.addressOf("_text"), 0xffffffff81000000);
  EXPECT_EQ(kernel.addressOf("_stext"), 0xffffffff81000000);
  EXPECT_EQ(kernel.addressOf("do_global"), 0xffffffff81000100);
  EXPECT_FALSE(kernel.addressOf("ext4_init")) << "modules move by themselves";
}

TEST(Kallsyms, HiddenAddressesAreToldFromNone) {
  EXPECT_TRUE(Kallsyms("0000000000000000 T _text\n0000000000000000 T _stext\n").hidden());
  EXPECT_FALSE(Kallsyms("").hidden());
  EXPECT_TRUE(Kallsyms("").empty());
  EXPECT_TRUE(Kallsyms("zzzz\n\n\t[x]\nff\nff T\nff T \n").empty());
}

TEST(Kallsyms, EverySymbolOfThisKernelIsFound) {
  std::ifstream in("/proc/kallsyms");
  std::stringstream text;
  text << in.rdbuf();
  const Kallsyms kernel(text.str());
  if (kernel.empty())
    GTEST_SKIP() << "needs addresses in /proc/kallsyms: run as root, kernel.kptr_restrict=0";
  size_t count = 0;
  for (std::string line; std::getline(text, line); count++) {
    const uint64_t address = std::stoull(line, nullptr, 16);
    const KernelSymbol* found = kernel.at(address);
    ASSERT_NE(found, nullptr) << line;
    EXPECT_EQ(found->address, address) << line;
  }
  EXPECT_GT(count, 1000u);
}

TEST(KernelBuildId, IsTheOneReadelfFinds) {
  const std::string id = kernelBuildId("/sys/kernel/notes");
  if (id.empty()) GTEST_SKIP() << "needs /sys/kernel/notes with a build id";
  const std::string dump = mustRun("od -An -v -tx1 /sys/kernel/notes | tr -d ' \\n'");
  EXPECT_NE(dump.find("03000000474e5500" + id), std::string::npos) << "type 3, owner GNU";
  EXPECT_EQ(kernelBuildId("/nowhere"), "");
}

}  // namespace
}  // namespace cacheline::symbols
