// Makes the samples: who accesses which line, when, by which instruction, and how it went.
#include "sampler.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "base/error.h"
#include "recording_file.h"

namespace cacheline::synth {
namespace {

constexpr uint64_t kPerRound = 256;  // samples of one CPU between two FINISHED_ROUNDs
constexpr uint64_t kStep =
    64;  // ns: each sample of the recording has a slot of its own, so no two times are equal
constexpr uint64_t kThousandths = 1024;  // of the whole run: `progress`

std::vector<uint16_t> spread(const std::vector<Source>& sources) {
  std::vector<uint16_t> indices;
  for (size_t i = 0; i < sources.size(); ++i)
    indices.insert(indices.end(), sources[i].share, static_cast<uint16_t>(i));
  if (indices.size() != 1000)
    throw Error(ErrorKind::internal, "shares of data sources do not add up to 1000");
  return indices;
}

const Source& pick(const std::vector<Source>& sources, const std::vector<uint16_t>& indices, Random& random) {
  return sources[indices[random.below(indices.size())]];
}

}  // namespace

Sampler::Sampler(const Options& options, const Scenario& scenario, const Binary& binary, const World& world,
                 std::FILE* list)
    : options_(options),
      scenario_(scenario),
      binary_(binary),
      world_(world),
      list_(list),
      random_(options.seed),
      contended_(spread(scenario.contended)),
      calm_(spread(scenario.calm)),
      stores_(spread(scenario.stores)) {}

uint64_t Sampler::rounds() const {
  const uint64_t inRound = kPerRound * options_.cpus;
  return (options_.samples + inRound - 1) / inRound;
}

uint64_t Sampler::end() const {
  return kStart + (rounds() + 1) * kPerRound * options_.cpus * kStep;
}

void Sampler::run(perfdata::Writer& writer) {
  const uint64_t cpus = options_.cpus;
  std::vector<uint8_t> bytes;
  uint64_t written = 0;
  for (uint64_t round = 0; round < rounds(); ++round) {
    bytes.clear();
    for (uint64_t cpu = 0; cpu < cpus; ++cpu) {
      // CPUs are ahead of each other by up to half a round: buffers are not emptied all at once.
      const uint64_t ahead = kPerRound / 2 * cpu / cpus;
      for (uint64_t i = 0; i < kPerRound && written < options_.samples; ++i, ++written) {
        const uint64_t slot = (round * kPerRound + i + ahead) * cpus + cpu;
        const uint64_t time = kStart + slot * kStep + random_.below(kStep);
        const Sample sample = make(static_cast<uint32_t>(cpu), written * kThousandths / options_.samples);
        append(bytes, sample, time);
        if (list_ != nullptr) note(sample, time);
      }
    }
    writer.append(bytes);
    writer.finishedRound();
  }
}

Sampler::Sample Sampler::make(uint32_t cpu, uint64_t progress) {
  Sample sample{};
  sample.cpu = cpu;
  sample.misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP;
  // Some lines are hot, most are not.
  const double where = random_.unit();
  const auto count = static_cast<double>(world_.lines().size());
  const Line& line =
      world_.lines()[static_cast<size_t>((options_.even ? where : where * where * where) * count)];
  uint32_t process = line.process;
  if (process == kAnyProcess) {
    const bool everybody = line.region != Region::staticData;
    process = static_cast<uint32_t>(
        random_.below(everybody ? options_.processes : std::min(options_.processes, 2u)));
  }
  const uint32_t thread = (cpu + (random_.oneIn(16) ? 1 : 0)) % options_.threads;
  sample.pid = World::pid(process);
  sample.tid = World::tid(process, thread);

  access(sample, line, process, static_cast<uint64_t>(&line - world_.lines().data()));
  sample.physical = physicalOf(line, process, sample.address, progress);
  if (scenario_.memoryHoles && random_.oneIn(8)) sample.physical += 4 * kNodeBytes;
  if (scenario_.allModes && random_.oneIn(16)) {
    static constexpr uint16_t kModes[] = {PERF_RECORD_MISC_CPUMODE_UNKNOWN, PERF_RECORD_MISC_HYPERVISOR,
                                          PERF_RECORD_MISC_GUEST_KERNEL, PERF_RECORD_MISC_GUEST_USER};
    sample.misc = kModes[random_.below(4)];
  }

  // An instruction is reached in up to three ways.
  const auto caller = [&](uint64_t dice) {
    return binary_.loads[dice % binary_.loads.size()] + world_.codeBias(process);
  };
  const uint64_t way = mix(sample.ip, random_.below(3));
  sample.callers[0] = caller(way);
  sample.callers[1] = caller(mix(way));

  const uint64_t odd = random_.below(1024);
  if (odd < 4) {  // an address the hardware could not tell
    sample.address = sample.physical = sample.key = 0;
    sample.space = "none";
  } else if (odd < 8 && (process == 0 || scenario_.unmappedTwice) && !isKernel(line.region)) {
    sample.address = World::kNothingMapped + 64 * random_.below(8) + sample.address % 64;
    sample.key = sample.address & ~uint64_t{63};
    sample.space = world_.space({Region::anonymous, 0, false, 0}, process).c_str();
  } else if (odd < 14) {  // nothing is known but the instruction
    sample.source = PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LOCK, NA) |
                    PERF_MEM_S(TLB, NA);
    sample.weight = 0;
    if (!scenario_.emptyHasAddress) {
      sample.address = sample.physical = sample.key = 0;
      sample.space = "none";
    }
    if (scenario_.emptyEvent >= 0) sample.event = static_cast<uint16_t>(scenario_.emptyEvent);
  }
  return sample;
}

void Sampler::access(Sample& sample, const Line& line, uint32_t process, uint64_t number) {
  // A line has one to so many places, each accessed by some loads and stores of the program.
  const uint64_t place = random_.below(1 + mix(options_.seed, number) % options_.places);
  const uint64_t variant = random_.below(options_.variants);
  const bool store = random_.below(10) < (line.contended ? 4u : 2u);
  const uint64_t code = mix(number * 8 + place, store ? 1 << 16 | variant / 2 : variant);
  sample.address =
      world_.address(line, process) + (options_.places > 4 ? place * 8 : place * 16 + number % 2 * 8);
  sample.space = world_.space(line, process).c_str();
  sample.key = world_.key(line, process);
  if (isKernel(line.region) || (scenario_.kernelOnUser && random_.oneIn(8))) {
    sample.misc = PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP;
    sample.ip = World::kKernelText + 0x1000 + 16 * (code % 8);
  } else {
    const std::vector<uint64_t>& codes = store ? binary_.stores : binary_.loads;
    sample.ip = codes[code % codes.size()] + world_.codeBias(process);
  }
  if (store) {
    sample.event = scenario_.storeEvent;
    sample.source = pick(scenario_.stores, stores_, random_).word;
    return;
  }
  sample.event = scenario_.loadEvent;
  const Source& source =
      line.contended ? pick(scenario_.contended, contended_, random_) : pick(scenario_.calm, calm_, random_);
  sample.source = source.word;
  sample.weight = latency(source);
}

uint64_t Sampler::latency(const Source& source) {
  uint64_t cycles = source.cycles + random_.below(source.cycles + 1);
  if (random_.oneIn(64)) cycles = std::min<uint64_t>(cycles * (2 + random_.below(100)), 60'000);
  if (!scenario_.pipelineStages) return cycles;
  return cycles | (cycles / 2 + 1) % 0xffff << 32 | random_.below(64) << 48;
}

uint64_t Sampler::physicalOf(const Line& line, uint32_t process, uint64_t address, uint64_t progress) {
  const bool everybody = line.process == kAnyProcess;
  const uint64_t page = mix(static_cast<uint64_t>(line.region) << 8 | (everybody ? kAnyProcess : process),
                            uint64_t{line.index} * 64 / kPage);
  if (page % 32 == 0 || random_.oneIn(64)) return 0;  // not told
  uint64_t place = page >> 8;
  if (page % 16 == 1 && progress >= kThousandths / 2) place = mix(place);  // moved by the kernel
  const uint64_t node = place % 2;
  return node * kNodeBytes + (place >> 1) % (kNodeBytes / kPage) * kPage + address % kPage;
}

void Sampler::append(std::vector<uint8_t>& out, const Sample& s, uint64_t time) const {
  uint64_t words[48];
  size_t count = 1;
  words[count++] = idOf(s.event, s.cpu);
  words[count++] = s.ip;
  words[count++] = s.pid | uint64_t{s.tid} << 32;
  words[count++] = time;
  words[count++] = s.address;
  words[count++] = s.cpu;
  words[count++] = 1 + s.weight % 7;  // the period: c2c counts samples, not periods
  if (options_.callchains) {
    const bool kernel = (s.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    words[count++] = kernel ? 5 : 4;
    words[count++] = kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
    words[count++] = s.ip;
    if (kernel) words[count++] = PERF_CONTEXT_USER;
    for (const uint64_t caller : s.callers) words[count++] = caller;
  }
  words[count++] = s.weight;
  words[count++] = s.source;
  if (options_.registers) {  // whatever register an instruction goes by, it is at the data
    words[count++] = PERF_SAMPLE_REGS_ABI_64;
    for (uint8_t reg = 0; reg < kRegCount; ++reg)
      if ((kX86SampleRegs >> reg & 1) != 0) words[count++] = reg == kRegIp ? s.ip : s.address;
  }
  if (scenario_.physical) words[count++] = s.physical;
  const perf_event_header header{PERF_RECORD_SAMPLE, s.misc, static_cast<uint16_t>(count * sizeof words[0])};
  std::memcpy(words, &header, sizeof header);
  const size_t at = out.size();
  out.resize(at + header.size);
  std::memcpy(out.data() + at, words, header.size);
}

void Sampler::note(const Sample& s, uint64_t time) const {
  std::fprintf(list_,
               "%" PRIu64 "\t%u\t%u\t%u\t%u\t%u\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIu64 "\t%" PRIx64
               "\t%s\t%" PRIx64 "\t%" PRIx64 ",%" PRIx64 "\n",
               time, s.event, s.pid, s.tid, s.cpu, s.misc & PERF_RECORD_MISC_CPUMODE_MASK, s.ip, s.address,
               s.source, s.weight & 0xffffffff, scenario_.physical ? s.physical : 0, s.space, s.key,
               s.callers[0], s.callers[1]);
}

}  // namespace cacheline::synth
