// The records inside of COMPRESSED and COMPRESSED2 records: one zstd stream that all of a file's compressed
// records together hold.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cacheline::perfdata {

/// Decompresses piece by piece: nothing is allocated by a size that the file claims. What has been
/// decompressed stays where it is, in chunks, until release() is told that it was delivered. A record whose
/// end is in the next compressed record is put together in the next chunk.
///
///   d.feed(content, offset);
///   for (auto bytes = d.next(); !bytes.empty(); bytes = d.next()) d.take(walk(bytes), newest);
///
/// zstd keeps a window of up to 128 MiB behind the stream, as `perf record -z` with the highest level asks
/// for.
class Decompressor {
 public:
  Decompressor() = default;
  ~Decompressor();
  Decompressor(Decompressor&&) = default;
  Decompressor& operator=(Decompressor&&) = default;

  /// Starts on the content of the compressed record at file offset `where`. Without effect after a failure.
  void feed(std::span<const uint8_t> content, uint64_t where);
  /// Decompresses on and returns what has not been taken; empty at the end of the content.
  std::span<const uint8_t> next();
  /// The first `size` bytes of what next() returned are whole records, of which the newest has the time
  /// `newest`.
  void take(size_t size, uint64_t newest);
  /// Frees the chunks of which nothing is newer than `delivered`.
  void release(uint64_t delivered);

  /// Bytes of a record whose end has not come.
  uint64_t untaken() const;
  /// Bytes of all chunks.
  uint64_t held() const { return held_; }
  /// Ends the stream: its records are damaged, `why` says how. next() gives nothing from now on.
  void fail(std::string why);
  /// Why the stream ended before its time; empty where it did not.
  const std::string& failure() const { return failure_; }
  /// The file offset of the compressed record that was fed last.
  uint64_t where() const { return where_; }
  /// The file offset of the compressed record that `at` comes out of, or ~0 where `at` is in no chunk.
  uint64_t originOf(const uint8_t* at) const;

 private:
  struct Chunk {
    std::unique_ptr<uint8_t[]> bytes;
    size_t capacity = 0, filled = 0, taken = 0;
    uint64_t newest = 0;
    std::vector<std::pair<size_t, uint64_t>>
        origins;  ///< from this byte on, out of the record at this offset
  };
  struct FreeContext {
    void operator()(void* context) const;
  };
  void addChunk();

  std::unique_ptr<void, FreeContext> context_;  ///< ZSTD_DCtx
  std::deque<Chunk> chunks_;                    ///< the last one is being filled
  std::span<const uint8_t> content_;            ///< what of the compressed record is left
  bool done_ = true;                            ///< all of it is decompressed
  uint64_t where_ = 0, fed_ = 0, produced_ = 0, held_ = 0;
  std::string failure_;
};

}  // namespace cacheline::perfdata
