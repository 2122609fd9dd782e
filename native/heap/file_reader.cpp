// Walks over the chunks of an `allocations` file.
#include "heap/file_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "heap/clock.h"

namespace cacheline::heap {
namespace {

constexpr size_t kHeaderWords = sizeof(heap_chunk_header) / sizeof(uint64_t);
constexpr size_t kPageWords = HEAP_PAGE / sizeof(uint64_t);

/// The length that a kind must have; 0 for kinds that do not exist, and for stacks, whose length varies.
size_t wordsOf(uint64_t kind) {
  switch (kind) {
    case HEAP_ALLOCATE:
    case HEAP_MAP:
      return 4;
    case HEAP_UNMAP:
      return 3;
    case HEAP_FREE:
    case HEAP_IMAGE:
    case HEAP_FORK:
      return 2;
    case HEAP_THREAD:
      return 1;
    default:
      return 0;
  }
}

class FileReader {
 public:
  FileReader(std::span<const uint8_t> bytes, const std::string& name) : bytes_(bytes), name_(name) {
    content_.words = {reinterpret_cast<const uint64_t*>(bytes.data()), bytes.size() / sizeof(uint64_t)};
    content_.stacks.emplace_back();
  }

  FileContent read() {
    if (!readHeader()) return std::move(content_);
    for (size_t page = 1; page * kPageWords + kHeaderWords <= content_.words.size();) page += readChunk(page);
    if (damaged_ > 0)
      warn(std::to_string(damaged_) + " chunks are damaged, the first at byte " +
           std::to_string(firstDamage_) + ": the rest of each is left out");
    convertTimes();
    std::stable_sort(content_.events.begin(), content_.events.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    return std::move(content_);
  }

 private:
  void warn(const std::string& text) { content_.warnings.push_back(name_ + ": " + text); }

  bool readHeader() {
    if (bytes_.size() < sizeof header_) {
      warn("the file has " + std::to_string(bytes_.size()) + " bytes, fewer than its header");
      return false;
    }
    std::memcpy(&header_, bytes_.data(), sizeof header_);
    if (header_.magic != HEAP_FILE_MAGIC || header_.version != HEAP_VERSION || header_.page != HEAP_PAGE) {
      warn("this is not a file of heap blocks of version " + std::to_string(HEAP_VERSION) +
           "; record again with this version");
      return false;
    }
    // Records are told apart by 32-bit indexes of words.
    if (content_.words.size() > std::numeric_limits<uint32_t>::max()) {
      warn("the file is larger than 32 GiB: its end is left out");
      content_.words = content_.words.first(std::numeric_limits<uint32_t>::max());
    }
    content_.sampling = header_.sampling;
    content_.alwaysFrom = header_.always_from;
    content_.lost = header_.lost;
    content_.processes = header_.processes;
    anchors_ = {header_.start, header_.end};
    return true;
  }

  void damage(size_t word) {
    if (damaged_++ == 0) firstDamage_ = word * sizeof(uint64_t);
  }

  /// The number of pages to go on by: one where no chunk starts here.
  size_t readChunk(size_t page) {
    const size_t start = page * kPageWords;
    heap_chunk_header chunk;
    std::memcpy(&chunk, &content_.words[start], sizeof chunk);
    if (chunk.magic == 0 && chunk.offset == 0) return 1;  // taken, but its thread was ended before it began
    if (chunk.magic != HEAP_CHUNK_MAGIC || chunk.offset != start * sizeof(uint64_t) || chunk.pages == 0) {
      if (start != expectedDamage_) damage(start);
      expectedDamage_ = start + kPageWords;  // the pages of one damaged chunk count once
      return 1;
    }
    size_t end = start + size_t{chunk.pages} * kPageWords;
    if (end > content_.words.size()) {
      warn("the file ends within the chunk at byte " + std::to_string(chunk.offset));
      end = content_.words.size();
    }
    anchors_.push_back(chunk.opened);
    content_.blocks += chunk.blocks;
    content_.lost += chunk.lost_rate + chunk.lost_table + chunk.lost_nested;
    content_.owners.push_back({chunk.pid, chunk.tid});
    readRecords(start + kHeaderWords, end, chunk.pid);
    return chunk.pages;
  }

  void readRecords(size_t at, size_t end, uint32_t pid) {
    while (at < end && content_.words[at] != 0) {
      const uint64_t word = content_.words[at];
      const uint64_t kind = word & 0xff;
      const size_t length = word >> 8 & 0xff;
      const size_t wanted = kind == HEAP_STACK ? 2 + (word >> (64 - HEAP_VALUE_BITS)) : wordsOf(kind);
      if (length == 0 || length != wanted || length > end - at) return damage(at);
      if (kind == HEAP_STACK)
        addStack(at, length);
      else if (kind == HEAP_THREAD)
        content_.owners.push_back({pid, static_cast<uint32_t>(word >> (64 - HEAP_VALUE_BITS))});
      else
        content_.events.push_back({content_.words[at + 1], static_cast<uint32_t>(at),
                                   static_cast<uint32_t>(content_.owners.size() - 1)});
      at += length;
    }
  }

  void addStack(size_t at, size_t length) {
    if (!content_.stackOfHash.try_emplace(content_.words[at + 1], content_.stacks.size()).second) return;
    content_.stacks.emplace_back(content_.words.begin() + static_cast<ptrdiff_t>(at + 2),
                                 content_.words.begin() + static_cast<ptrdiff_t>(at + length));
  }

  void convertTimes() {
    const Clock clock = header_.tsc == 1 ? Clock(anchors_) : Clock();
    if (!clock.usable()) {
      if (!content_.events.empty())
        warn("the times of its blocks are unknown: its clock has fewer than two anchors");
      content_.events.clear();
      return;
    }
    if (clock.dropped() > 0)
      warn(std::to_string(clock.dropped()) + " anchors of its clock contradict the others and are left out");
    for (Event& event : content_.events) event.time = clock.toNs(event.time);
  }

  std::span<const uint8_t> bytes_;
  const std::string& name_;
  heap_file_header header_{};
  FileContent content_;
  std::vector<heap_anchor> anchors_;
  size_t damaged_ = 0, firstDamage_ = 0, expectedDamage_ = 0;
};

}  // namespace

FileContent readFile(std::span<const uint8_t> bytes, const std::string& name) {
  return FileReader(bytes, name).read();
}

}  // namespace cacheline::heap
