// Definitions that look alike from outside may differ in what is inside of their members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cacheline::types {

/// For each member that is a structure the hash of all that is in it, down to the innermost ones; 0: a part
/// of it is only declared where the definition is. They come in one order for all definitions that look
/// alike.
using InnerHashes = std::vector<uint64_t>;

/// Which structures lie in which. A structure goes by its DIE's place in memory.
class InnerTypes {
 public:
  /// `others`: asked about structures that are not here; nullptr: nobody is.
  explicit InnerTypes(InnerTypes* others) : others_(others) {}
  /// `hash`: of what the structure looks like from outside. Returns its number, which is good until they are
  /// sorted: where they are added by place it stays.
  size_t add(const void* structure, uint64_t hash);
  /// `member` may be added before or after, here or among the others.
  void link(size_t structure, const void* member);
  /// To be asked when all are added; none where the structure is not known. Good until the next question.
  const InnerHashes& of(const void* structure);
  const InnerHashes& of(size_t structure);
  void clear();

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Structure {
    const void* place;
    uint64_t hash, whole = 0;
    uint32_t lastLink = kNone;
    bool read = false;
  };
  struct Link {
    const void* member;
    uint32_t before;  ///< the structure's link before this one
  };
  Structure* at(const void* place);
  uint64_t whole(const void* place, int depth);

  InnerTypes* others_;
  std::vector<Structure> structures_;
  size_t ascending_ = 0;  ///< so many are by place
  std::vector<Link> links_;
  InnerHashes answer_;
};

}  // namespace cacheline::types
