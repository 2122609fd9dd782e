// Streaming zstd over the compressed records of one file.
#include "perfdata/decompressor.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace cacheline::perfdata {
namespace {

constexpr size_t kChunkBytes = 256 << 10;
/// Samples of nothing but zeros and a time come down to a thousandth. What goes beyond this is made to fill
/// memory and time.
constexpr uint64_t kMostRatio = 4096, kAlwaysAllowed = 16 << 20;

}  // namespace

void Decompressor::FreeContext::operator()(void* context) const {
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(context));
}

Decompressor::~Decompressor() = default;

void Decompressor::feed(std::span<const uint8_t> content, uint64_t where) {
  if (!failure_.empty()) return;
  if (context_ == nullptr) context_.reset(ZSTD_createDCtx());
  content_ = content;
  where_ = where;
  fed_ += content.size();
  done_ = false;
  if (!chunks_.empty()) chunks_.back().origins.emplace_back(chunks_.back().filled, where);
}

std::span<const uint8_t> Decompressor::next() {
  if (done_ || !failure_.empty()) return {};
  if (chunks_.empty() || chunks_.back().filled == chunks_.back().capacity) addChunk();
  Chunk& chunk = chunks_.back();
  const size_t room = chunk.capacity - chunk.filled;
  ZSTD_outBuffer out{chunk.bytes.get() + chunk.filled, room, 0};
  ZSTD_inBuffer in{content_.data(), content_.size(), 0};
  const size_t status = ZSTD_decompressStream(static_cast<ZSTD_DCtx*>(context_.get()), &out, &in);
  content_ = content_.subspan(in.pos);
  chunk.filled += out.pos;
  produced_ += out.pos;
  if (ZSTD_isError(status) != 0) {
    fail(std::string("zstd says: ") + ZSTD_getErrorName(status));
  } else if (produced_ > kAlwaysAllowed && produced_ / kMostRatio > fed_) {
    fail("they hold more than " + std::to_string(kMostRatio) + " times their size");
  } else if (out.pos < room && (content_.empty() || (in.pos == 0 && out.pos == 0))) {
    done_ = true;
  }
  return {chunk.bytes.get() + chunk.taken, chunk.filled - chunk.taken};
}

/// A new last chunk, starting with the bytes that have not been taken. It is twice as large as they are: a
/// record with trace data behind it may take many chunks.
void Decompressor::addChunk() {
  const size_t carried = chunks_.empty() ? 0 : chunks_.back().filled - chunks_.back().taken;
  Chunk chunk;
  chunk.capacity = std::max(kChunkBytes, 2 * carried);
  chunk.bytes = std::make_unique_for_overwrite<uint8_t[]>(chunk.capacity);
  chunk.filled = carried;
  chunk.origins.emplace_back(0, where_);
  if (carried != 0) {
    Chunk& last = chunks_.back();
    std::memcpy(chunk.bytes.get(), last.bytes.get() + last.taken, carried);
    last.filled = last.taken;
    if (last.taken == 0) {  // nothing of it waits
      held_ -= last.capacity;
      chunks_.pop_back();
    }
  }
  held_ += chunk.capacity;
  chunks_.push_back(std::move(chunk));
}

void Decompressor::take(size_t size, uint64_t newest) {
  chunks_.back().taken += size;
  chunks_.back().newest = std::max(chunks_.back().newest, newest);
}

void Decompressor::release(uint64_t delivered) {
  const auto gone = [&](const Chunk& chunk) {
    if (&chunk == &chunks_.back() || chunk.newest > delivered) return false;
    held_ -= chunk.capacity;
    return true;
  };
  std::erase_if(chunks_, gone);
}

uint64_t Decompressor::untaken() const {
  return chunks_.empty() ? 0 : chunks_.back().filled - chunks_.back().taken;
}

void Decompressor::fail(std::string why) {
  failure_ = std::move(why);
  done_ = true;
  content_ = {};
}

uint64_t Decompressor::originOf(const uint8_t* at) const {
  for (const Chunk& chunk : chunks_) {
    const uint8_t* start = chunk.bytes.get();
    if (std::less<>()(at, start) || !std::less<>()(at, start + chunk.capacity)) continue;
    uint64_t origin = ~uint64_t{0};
    for (const auto& [from, where] : chunk.origins) {
      if (from <= static_cast<size_t>(at - start)) origin = where;
    }
    return origin;
  }
  return ~uint64_t{0};
}

}  // namespace cacheline::perfdata
