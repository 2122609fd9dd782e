// Plays the events of a file in time order: what lived when, in which image of which process.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "heap/allocations.h"
#include "heap/file_reader.h"

namespace cacheline::heap {

/// A process between two calls of exec. One made by fork has its parent's blocks of that moment.
struct Image {
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint64_t start = 0;                          ///< ns
  uint32_t parent = kNone;                     ///< index of the image it was forked from, lower than its own
  HashMap<uint64_t, uint64_t> inheritedFrees;  ///< address of an inherited block -> ns
};

struct Lives {
  std::vector<Block> blocks;
  std::vector<uint32_t> imageOfBlock;
  std::vector<Image> images;
  HashMap<uint32_t, std::vector<uint32_t>> imagesOfProcess;  ///< by start
};

Lives replay(const FileContent& content);

}  // namespace cacheline::heap
