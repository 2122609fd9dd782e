// PMUs as sysfs describes them: terms, formats, and files that say what cannot be.
#include "record/sysfs_events.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "sysfs_fixtures.h"

namespace cacheline::record::test {
namespace {

std::string messageOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SysfsEvents, Terms) {
  const std::vector<EventTerm> terms = parseEventTerms("event=0xcd,umask=0x1, any ,ldlat=3\n", "file");
  ASSERT_EQ(terms.size(), 4u);
  EXPECT_EQ(terms[0].name, "event");
  EXPECT_EQ(terms[0].value, 0xcdu);
  EXPECT_EQ(terms[2].name, "any");
  EXPECT_EQ(terms[2].value, 1u);
  EXPECT_EQ(terms[3].value, 3u);
  EXPECT_TRUE(parseEventTerms("", "file").empty());
  for (const char* bad : {"=3", "event=", "event=xyz", "event=0x", "event=-1", "a,,b",
                          "event=0x10000000000000000", "../../type=1"})
    EXPECT_TRUE(contains(messageOf([&] { parseEventTerms(bad, "FILE"); }), std::string("FILE says '") + bad))
        << bad;
}

TEST(SysfsEvents, Formats) {
  const TermBits event = parseTermBits("config:0-7,32-35", "file");
  EXPECT_EQ(event.word, 0u);
  EXPECT_EQ(event.bits, (std::vector<uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35}));
  EXPECT_EQ(parseTermBits("config3:63\n", "file").word, 3u);
  EXPECT_EQ(parseTermBits("config1:0-63", "file").bits.size(), 64u);
  EXPECT_EQ(parseTermBits("config:9,3,3", "file").bits, (std::vector<uint8_t>{3, 9}));
  for (const char* bad : {"", "config", "config:", "config4:0", "config:64", "config:0-64", "config:7-0",
                          "config:a", "config:0-", "config:0,,1", "config:0-18446744073709551615"})
    EXPECT_TRUE(contains(messageOf([&] { parseTermBits(bad, "FILE"); }), "FILE says '")) << bad;
}

TEST(SysfsEvents, ValuesGoWhereTheFormatSays) {
  SysfsTree tree(Machine::zen2);
  const auto cpu = SysfsPmu::find(tree.root(), "cpu");
  ASSERT_TRUE(cpu);
  EventWords words{};
  cpu->encode({{"event", 0xabc}, {"umask", 0x55}}, words);
  EXPECT_EQ(words, (EventWords{0xa000055bcull, 0, 0, 0}));
  cpu->encode({{"umask", 0x0f}}, words);  // later terms over earlier ones
  EXPECT_EQ(words[0], 0xa00000fbcull);
  cpu->encode({{"config2", 7}}, words);
  EXPECT_EQ(words[2], 7u);
}

TEST(SysfsEvents, WhatCannotBeIsSaid) {
  SysfsTree tree(Machine::skylakeSp);
  const auto cpu = SysfsPmu::find(tree.root(), "cpu");
  ASSERT_TRUE(cpu);
  EventWords words{};
  EXPECT_EQ(messageOf([&] { cpu->encode({{"ldlat", 70000}}, words); }),
            "ldlat 70000 is more than the PMU cpu takes");
  EXPECT_TRUE(contains(messageOf([&] { cpu->encode({{"nosuch", 1}}, words); }), "has no term 'nosuch'"));
  EXPECT_TRUE(contains(messageOf([&] { cpu->event("nosuch"); }), "has no event 'nosuch'"));
  tree.write("cpu/format/ldlat", "config1:0-99");
  EXPECT_TRUE(contains(messageOf([&] { cpu->event("mem-loads"); }), "format/ldlat says 'config1:0-99'"));
  EXPECT_FALSE(SysfsPmu::find(tree.root(), "nosuch"));
  tree.write("broken/type", "none");
  EXPECT_FALSE(SysfsPmu::find(tree.root(), "broken"));
  perf_event_attr attr{};
#ifndef PERF_ATTR_SIZE_VER8
  EXPECT_TRUE(contains(messageOf([&] { setEventWords(attr, {0, 0, 0, 1}); }), "config3"));
#endif
  setEventWords(attr, {1, 2, 3, 0});
  EXPECT_EQ(attr.config2, 3u);
}

TEST(SysfsEvents, Cpus) {
  SysfsTree tree(Machine::raptorLake);
  EXPECT_EQ(SysfsPmu::find(tree.root(), "cpu_atom")->cpus(), (std::vector<uint32_t>{1}));
  EXPECT_EQ(SysfsPmu::find(tree.root(), "cpu_atom")->capability("max_precise"), 3);
  EXPECT_FALSE(SysfsPmu::find(tree.root(), "cpu_atom")->capability("pmu_name"));
  SysfsTree arm(Machine::neoverseN1);
  EXPECT_EQ(SysfsPmu::find(arm.root(), "arm_spe_0")->cpus(), (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace cacheline::record::test
