// Functions by their unwind entries, judged by the symbol table.
#include "symbols/frame_ranges.h"

#include <gtest/gtest.h>

namespace cacheline::symbols {
namespace {

TEST(FrameRanges, AreThoseOfTheSymbols) {
  const auto image = ElfImage::open("/proc/self/exe");
  const auto text = image->section(".text");
  ASSERT_TRUE(text);
  size_t same = 0, other = 0;
  for (uint64_t address = text->address; address < text->address + text->size; address += 61) {
    const Symbol* function = image->functionAt(address);
    const auto range = frameRange(*image, address);
    if (range) {
      EXPECT_LT(address - range->address, range->size);
    }
    if (function == nullptr || function->size == 0 || !range) continue;
    ++(range->address == function->address && range->size == function->size ? same : other);
  }
  EXPECT_GT(same, 1000u);
  EXPECT_LE(other, same / 100);
  EXPECT_FALSE(frameRange(*image, 0));
  EXPECT_FALSE(frameRange(*image, ~uint64_t{0}));
}

}  // namespace
}  // namespace cacheline::symbols
