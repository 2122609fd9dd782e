// Merges SPE buffers by time and gives every load and store its thread, CPU and data source.
#include "spe/session.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace cacheline::spe {
namespace {

/// The last element of `timeline`, ascending in time, that is not after `time`; null where there is none.
template <typename Entry>
const Entry* lastUntil(const std::vector<Entry>& timeline, uint64_t time) {
  const auto after = std::ranges::upper_bound(timeline, time, {}, &Entry::time);
  return after == timeline.begin() ? nullptr : &*std::prev(after);
}

template <typename Map, typename Projection>
void sortAll(Map& map, Projection projection) {
  for (auto& [key, entries] : map) std::ranges::stable_sort(entries, {}, projection);
}

uint16_t cpuModeOf(const SpeRecord& record) {
  if (!record.has(kPartPc)) return PERF_RECORD_MISC_CPUMODE_UNKNOWN;
  switch (record.exceptionLevel) {
    case 0:
      return PERF_RECORD_MISC_USER;
    case 3:
      return PERF_RECORD_MISC_HYPERVISOR;
    default:
      return PERF_RECORD_MISC_KERNEL;  // EL1, or EL2 where the kernel is its own hypervisor
  }
}

std::string plural(uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

SpeSession::SpeSession(SpeInfo info, SpeOptions options)
    : info_(std::move(info)), options_(std::move(options)) {
  if (options_.time && !options_.time->valid())
    throw Error(ErrorKind::unreadable,
                "the recording's time conversion has shift " + std::to_string(options_.time->shift) +
                    " and multiplier " + std::to_string(options_.time->mult) + ", which no kernel writes",
                "The recording is damaged; copy it again from where it was recorded.");
}

SpeSession::Queue& SpeSession::queueOf(const SpeChunk& chunk) {
  const bool ofCpu = chunk.cpu >= 0;
  const uint64_t key = uint64_t{ofCpu} << 32 | static_cast<uint32_t>(ofCpu ? chunk.cpu : chunk.tid);
  const auto [at, added] = queueIndex_.try_emplace(key, queues_.size());
  if (added) {
    queues_.emplace_back();
    queues_.back().cpu = ofCpu ? chunk.cpu : -1;
    queues_.back().tid = ofCpu ? -1 : chunk.tid;
  }
  return queues_[at->second];
}

void SpeSession::addChunk(const SpeChunk& chunk) {
  ++counts_.chunks;
  counts_.bytes += chunk.bytes.size();
  if (!chunk.bytes.empty()) queueOf(chunk).chunks.push_back(chunk);
}

void SpeSession::addAux(const SpeAux& aux) {
  counts_.truncatedAux += (aux.flags & PERF_AUX_FLAG_TRUNCATED) != 0;
  counts_.collidedAux += (aux.flags & PERF_AUX_FLAG_COLLISION) != 0;
  if (aux.size == 0) return;
  if (aux.cpu >= 0) auxOfCpu_[aux.cpu].push_back(aux);
  if (aux.tid >= 0) auxOfThread_[aux.tid].push_back(aux);
}

void SpeSession::addSwitch(const SpeSwitch& change) {
  if (change.cpu >= 0) switches_[change.cpu].push_back(change);
}

void SpeSession::addThread(const SpeThread& thread) {
  std::vector<SpeThread>& known = threads_[thread.tid];
  if (known.empty() || known.back().pid != thread.pid) known.push_back(thread);
}

void SpeSession::start() {
  started_ = true;
  sortAll(auxOfCpu_, &SpeAux::offset);
  sortAll(auxOfThread_, &SpeAux::offset);
  sortAll(switches_, &SpeSwitch::time);
  sortAll(threads_, &SpeThread::time);
  for (size_t i = 0; i < queues_.size(); ++i)
    if (advance(queues_[i])) heap_.emplace_back(queues_[i].time, i);
  std::ranges::make_heap(heap_, std::greater<>());
}

/// Moves `queue` to its next load or store. False at its end.
bool SpeSession::advance(Queue& queue) {
  for (;;) {
    while (queue.buffer.next(queue.record)) {
      if (queue.record.operation.accessesMemory()) {
        place(queue);
        return true;
      }
      ++counts_.otherOperations;
    }
    closeBuffer(queue);
    if (queue.nextChunk == queue.chunks.size()) return false;
    const SpeChunk& chunk = queue.chunks[queue.nextChunk++];
    queue.buffer = SpeBuffer(chunk.bytes, chunk.offset);
    queue.bufferOffset = chunk.offset;
    queue.bufferFileOffset = chunk.fileOffset;
    queue.open = true;
  }
}

void SpeSession::closeBuffer(Queue& queue) {
  if (!queue.open) return;
  queue.open = false;
  const DecodeCounts& counts = queue.buffer.counts();
  if (counts.badBytes > 0) {
    const uint64_t at = queue.bufferFileOffset + queue.buffer.firstBad();
    firstBadFileOffset_ = counts_.decode.badBytes == 0 ? at : std::min(firstBadFileOffset_, at);
  }
  counts_.decode += counts;
}

/// The AUX record that handed out the byte at `offset` of the queue's AUX buffer.
const SpeAux* SpeSession::auxOf(const Queue& queue, uint64_t offset) const {
  const auto& all = queue.cpu >= 0 ? auxOfCpu_ : auxOfThread_;
  const auto found = all.find(queue.cpu >= 0 ? queue.cpu : queue.tid);
  if (found == all.end()) return nullptr;
  const auto after = std::ranges::upper_bound(found->second, offset, {}, &SpeAux::offset);
  if (after == found->second.begin()) return nullptr;
  const SpeAux& aux = *std::prev(after);
  return offset - aux.offset < aux.size ? &aux : nullptr;
}

/// Gives the queue's record its time and CPU.
void SpeSession::place(Queue& queue) {
  queue.timed = options_.time.has_value() && queue.record.has(kPartTimestamp);
  queue.recordCpu = queue.cpu;
  if (queue.timed) queue.time = options_.time->time(queue.record.timestamp);
  if (queue.timed && queue.cpu >= 0) return;
  const SpeAux* aux = auxOf(queue, queue.bufferOffset + queue.record.position);
  if (aux == nullptr) return;  // an untimed record keeps the time of the one before
  if (queue.cpu < 0) queue.recordCpu = aux->cpu;
  if (!queue.timed) queue.time = aux->time;
}

SourceMeaning SpeSession::meaningOf(int32_t cpu) {
  const auto [at, added] = meanings_.try_emplace(cpu, SourceMeaning::events);
  if (added) at->second = sourceMeaning(info_.midrOf(cpu, options_.midr));
  return at->second;
}

int32_t SpeSession::processOf(int32_t tid, uint64_t time) const {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return -1;
  const SpeThread* thread = lastUntil(found->second, time);
  // A thread's first record may come after its first sample: the buffers are emptied one after the other.
  return thread != nullptr ? thread->pid : found->second.front().pid;
}

void SpeSession::nameThread(const Queue& queue, SpeSample& sample) const {
  const SpeRecord& record = queue.record;
  if (record.has(kPartContextEl2)) {
    sample.tid = static_cast<int32_t>(record.contextEl2);
  } else if (record.has(kPartContextEl1)) {
    sample.tid = static_cast<int32_t>(record.contextEl1);
  } else if (queue.tid >= 0) {
    sample.tid = queue.tid;
  } else if (const auto found = switches_.find(queue.cpu); found != switches_.end()) {
    if (const SpeSwitch* change = lastUntil(found->second, queue.time)) {
      sample.tid = change->tid;
      sample.pid = change->pid;
    }
  }
  if (sample.tid < 0) sample.tid = -1;
  if (sample.tid >= 0 && sample.pid < 0) sample.pid = processOf(sample.tid, queue.time);
}

bool SpeSession::next(SpeSample& sample) {
  if (!started_) start();
  if (heap_.empty()) return false;
  std::ranges::pop_heap(heap_, std::greater<>());
  const size_t index = heap_.back().second;
  heap_.pop_back();
  Queue& queue = queues_[index];
  const SpeRecord& record = queue.record;

  sample = {};
  sample.time = queue.time;
  sample.cpu = queue.recordCpu;
  nameThread(queue, sample);
  sample.ip = record.pc;
  sample.address = record.virtualAddress;
  sample.physicalAddress = record.physicalAddress;
  sample.dataSource = dataSourceWord(record, meaningOf(queue.recordCpu));
  sample.events = record.events;
  sample.weight = record.totalLatency;
  sample.issueLatency = record.issueLatency;
  sample.translationLatency = record.translationLatency;
  sample.operation = record.operation;
  sample.cpuMode = cpuModeOf(record);

  ++counts_.samples;
  counts_.withoutAddress += !record.has(kPartVirtual);
  counts_.withoutTimestamp += !queue.timed;
  counts_.withoutThread += sample.tid < 0;
  counts_.outOfOrder += sample.time < lastTime_;
  lastTime_ = sample.time;

  if (advance(queue)) {
    heap_.emplace_back(queue.time, index);
    std::ranges::push_heap(heap_, std::greater<>());
  }
  return true;
}

std::vector<std::string> SpeSession::warnings() const {
  std::vector<std::string> warnings;
  const DecodeCounts& decode = counts_.decode;
  if (decode.badBytes > 0)
    warnings.push_back("The SPE data is damaged, first at file offset " +
                       std::to_string(firstBadFileOffset_) + ": " + plural(decode.badBytes, "byte") +
                       " outside of packets, " + plural(decode.droppedRecords, "record") + " dropped.");
  if (decode.truncatedRecords > 0)
    warnings.push_back("SPE data ends within a record in " + plural(decode.truncatedRecords, "place") + ": " +
                       plural(decode.truncatedBytes, "byte") + " not used.");
  if (counts_.truncatedAux > 0)
    warnings.push_back(
        "The kernel ran out of room for SPE data " + plural(counts_.truncatedAux, "time") +
        ": accesses are missing. Record with a larger AUX buffer (-m ,SIZE) or a longer period.");
  if (counts_.collidedAux > 0)
    warnings.push_back("Samples collided and are missing in " + plural(counts_.collidedAux, "piece") +
                       " of SPE data. Record with a longer period.");
  if (counts_.withoutTimestamp > 0)
    warnings.push_back(
        "The time of the buffer is used for " + plural(counts_.withoutTimestamp, "SPE sample") + ": " +
        (options_.time ? "no timestamps. Record with ts_enable=1." : "the recording lacks TIME_CONV."));
  if (counts_.withoutThread > 0)
    warnings.push_back("The thread of " + plural(counts_.withoutThread, "SPE sample") +
                       " is not known. Record as root, so that the kernel writes contexts.");
  if (counts_.outOfOrder > 0)
    warnings.push_back("Clocks of SPE data go back before " + plural(counts_.outOfOrder, "sample") + ".");
  return warnings;
}

}  // namespace cacheline::spe
