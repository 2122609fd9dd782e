// Header features that Writer does not write, in either byte order, and features that lie.
#include <gtest/gtest.h>

#include <random>

#include "example.h"
#include "file_builder.h"
#include "perfdata/event_name.h"
#include "perfdata/feature_reader.h"

namespace cacheline::perfdata::testing {
namespace {

Features featuresOf(uint32_t bit, const ByteBuilder& content, bool whole = true) {
  Features features;
  std::vector<Event> events(2);
  EXPECT_EQ(readFeature(bit, content.bytes(), content.order(), features, events), whole);
  return features;
}

class FeaturesOf : public ::testing::TestWithParam<ByteOrder> {
 protected:
  ByteBuilder bytes() const { return ByteBuilder(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(EitherOrder, FeaturesOf, ::testing::Values(ByteOrder::native, ByteOrder::foreign),
                         [](const auto& order) {
                           return order.param == ByteOrder::native ? "native" : "foreign";
                         });

TEST_P(FeaturesOf, MemoryBlocksBecomeRanges) {
  ByteBuilder b = bytes();
  b.put(uint64_t{1}).put(uint64_t{0x8000000}).put(uint64_t{2});
  b.put(uint64_t{0})
      .put(uint64_t{70})
      .put(uint64_t{70})
      .put(uint64_t{0x8000000000000007})
      .put(uint64_t{0x21});
  b.put(uint64_t{1}).put(uint64_t{5}).put(uint64_t{5}).put(uint64_t{0x18});
  const Features f = featuresOf(kFeatureMemTopology, b);
  ASSERT_EQ(f.memoryNodes.size(), 2u);
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;
  constexpr uint64_t kBlock = 0x8000000;
  EXPECT_EQ(f.memoryNodes[0].ranges,
            (Ranges{{0, 3 * kBlock}, {63 * kBlock, 65 * kBlock}, {69 * kBlock, 70 * kBlock}}));
  EXPECT_EQ(f.memoryNodes[1].node, 1u);
  EXPECT_EQ(f.memoryNodes[1].ranges, (Ranges{{3 * kBlock, 5 * kBlock}}));
}

TEST_P(FeaturesOf, CachesGroupsAndHybridPmus) {
  ByteBuilder cache = bytes();
  cache.put(uint32_t{1})
      .put(uint32_t{1})
      .put(uint32_t{3})
      .put(uint32_t{128})
      .put(uint32_t{4096})
      .put(uint32_t{16});
  const Features caches =
      featuresOf(kFeatureCache, cache.putString("Unified").putString("8192K").putString("0-7"));
  ASSERT_EQ(caches.caches.size(), 1u);
  EXPECT_EQ(caches.caches[0].level, 3u);
  EXPECT_EQ(caches.caches[0].lineSize, 128u);
  EXPECT_EQ(caches.caches[0].ways, 16u);
  EXPECT_EQ(caches.caches[0].size, "8192K");
  EXPECT_EQ(caches.caches[0].cpus, "0-7");

  ByteBuilder group = bytes();
  group.put(uint32_t{1}).putString("mem").put(uint32_t{0}).put(uint32_t{2});
  const Features groups = featuresOf(kFeatureGroupDesc, group);
  ASSERT_EQ(groups.groups.size(), 1u);
  EXPECT_EQ(groups.groups[0].name, "mem");
  EXPECT_EQ(groups.groups[0].members, 2u);

  ByteBuilder hybrid = bytes();
  hybrid.put(uint32_t{2}).putString("cpu_core").putString("0-3").putString("cpu_atom").putString("4-7");
  const Features pmus = featuresOf(kFeatureHybridTopology, hybrid);
  ASSERT_EQ(pmus.hybridPmus.size(), 2u);
  EXPECT_EQ(pmus.hybridPmus[1].pmu, "cpu_atom");
  EXPECT_EQ(pmus.hybridPmus[1].cpus, "4-7");
}

TEST_P(FeaturesOf, CapabilitiesOfOnePmuAndOfSeveral) {
  ByteBuilder one = bytes();
  const Features single =
      featuresOf(kFeatureCpuPmuCaps, one.put(uint32_t{1}).putString("branches").putString("32"));
  ASSERT_EQ(single.pmuCapabilities.size(), 1u);
  EXPECT_EQ(single.pmuCapabilities[0].pmu, "cpu");
  EXPECT_EQ(single.pmuCapabilities[0].values.at(0).second, "32");
  ByteBuilder several = bytes();
  several.put(uint32_t{2}).put(uint32_t{1}).putString("branches").putString("16").putString("cpu_atom");
  several.put(uint32_t{0}).putString("ibs_op");
  const Features more = featuresOf(kFeaturePmuCaps, several);
  ASSERT_EQ(more.pmuCapabilities.size(), 2u);
  EXPECT_EQ(more.pmuCapabilities[0].pmu, "cpu_atom");
  EXPECT_EQ(more.pmuCapabilities[1].pmu, "ibs_op");
}

TEST_P(FeaturesOf, NumbersOfTheRecording) {
  ByteBuilder compressed = bytes();
  for (const uint32_t value : {1, 1, 3, 5, 528384}) compressed.put(uint32_t{value});
  const auto compression = featuresOf(kFeatureCompressed, compressed).compression;
  ASSERT_TRUE(compression.has_value());
  EXPECT_EQ(compression->level, 3u);
  EXPECT_EQ(compression->ratio, 5u);
  EXPECT_EQ(compression->mmapBytes, 528384u);
  ByteBuilder clock = bytes();
  const auto data =
      featuresOf(kFeatureClockData, clock.put(uint32_t{1}).put(uint32_t{4}).put(uint64_t{9}).put(uint64_t{8}))
          .clockData;
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(data->clockId, 4u);
  EXPECT_EQ(data->wallNs, 9u);
  EXPECT_EQ(data->clockNs, 8u);
  EXPECT_EQ(featuresOf(kFeatureCacheLineSize, bytes().put(uint32_t{64})).cacheLineSize, 64u);
  EXPECT_EQ(featuresOf(kFeatureTotalMem, bytes().put(uint64_t{123456})).totalMemKb, 123456u);
}

TEST_P(FeaturesOf, SectionsThatEndTooSoonKeepWhatTheyHold) {
  ByteBuilder hybrid = bytes();
  hybrid.put(uint32_t{0xffffffff}).putString("cpu_core").putString("0-3").put(uint32_t{0xffffffff});
  EXPECT_EQ(featuresOf(kFeatureHybridTopology, hybrid, false).hybridPmus.size(), 1u);
  ByteBuilder memory = bytes();
  memory.put(uint64_t{1})
      .put(uint64_t{4096})
      .put(~uint64_t{0})
      .put(uint64_t{0})
      .put(~uint64_t{0})
      .put(~uint64_t{0});
  EXPECT_TRUE(featuresOf(kFeatureMemTopology, memory, false).memoryNodes.empty());
  EXPECT_FALSE(featuresOf(kFeatureCompressed, bytes().put(uint32_t{1}), false).compression.has_value());
}

TEST_P(FeaturesOf, ABitmapOfEveryOtherBitDoesNotMultiply) {
  ByteBuilder b = bytes();
  b.put(uint64_t{1})
      .put(uint64_t{4096})
      .put(uint64_t{1})
      .put(uint64_t{0})
      .put(uint64_t{1 << 20})
      .put(uint64_t{1 << 20});
  for (int i = 0; i < (1 << 20) / 64; ++i) b.put(uint64_t{0x5555555555555555});
  EXPECT_TRUE(featuresOf(kFeatureMemTopology, b, false).memoryNodes.empty());
}

TEST(FeatureBytesOf, EveryBitTakesAnyBytes) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    for (uint32_t bit = 0; bit < 40; ++bit) {
      Bytes content(random() % 200);
      // Mostly small numbers, so that counts and lengths lead somewhere.
      for (uint8_t& byte : content) byte = static_cast<uint8_t>(random() % 3 == 0 ? random() % 8 : 0);
      Features features;
      std::vector<Event> events(2);
      for (const ByteOrder order : {ByteOrder::native, ByteOrder::foreign})
        readFeature(bit, content, order, features, events);
      EXPECT_LE(features.cmdline.size() + features.buildIds.size() + features.memoryNodes.size(), 400u);
    }
  }
}

TEST(FeatureBytesOf, UnknownBitsArePassedOver) {
  const Bytes bytes = fileBytes(exampleRecording(), {.features = {{kFeatureBpfProgInfo, Bytes(100, 0xff)},
                                                                  {kFeatureStat, {}},
                                                                  {40, Bytes(9, 0xff)},
                                                                  {255, Bytes(1, 0xff)}}});
  const auto reader = Reader::fromBytes(bytes, "FILE");
  EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
}

TEST(EventNames, AreThoseOfTheCommandLine) {
  const auto name = [](uint32_t type, uint64_t config, bool user = false, bool kernel = false) {
    perf_event_attr attr{};
    attr.type = type;
    attr.config = config;
    attr.exclude_kernel = user;
    attr.exclude_user = kernel;
    return eventName(attr, {{9, "ibs_op"}});
  };
  EXPECT_EQ(name(PERF_TYPE_HARDWARE, 0), "cycles");
  EXPECT_EQ(name(PERF_TYPE_HARDWARE, 0x400000001), "instructions");
  EXPECT_EQ(name(PERF_TYPE_HARDWARE, 99), "pmu-type-0/config=0x63/");
  EXPECT_EQ(name(PERF_TYPE_SOFTWARE, 0, true), "cpu-clock:u");
  EXPECT_EQ(name(PERF_TYPE_SOFTWARE, 9, false, true), "dummy:k");
  EXPECT_EQ(name(PERF_TYPE_HW_CACHE, 0x10000), "L1-dcache-load-misses");
  EXPECT_EQ(name(PERF_TYPE_HW_CACHE, 0x102), "LLC-stores");
  EXPECT_EQ(name(PERF_TYPE_HW_CACHE, 0x20000), "pmu-type-3/config=0x20000/");
  EXPECT_EQ(name(PERF_TYPE_RAW, 0x1cd), "cpu/config=0x1cd/");
  EXPECT_EQ(name(PERF_TYPE_TRACEPOINT, 314), "tracepoint 314");
  EXPECT_EQ(name(9, 0x80000), "ibs_op/config=0x80000/");
}

}  // namespace
}  // namespace cacheline::perfdata::testing
