// Memory samples to touches.
#include "c2c/touch_maker.h"

#include "perfdata/access_reader.h"

namespace cacheline::c2c {

TouchMaker::TouchMaker(Lookups& shared, const perfdata::Features& features, const Options& options,
                       uint32_t lineSize)
    : shared_(shared),
      options_(options),
      filters_(options.filter.any()),
      cpuNodes_(features.numaNodes),
      memoryNodes_(features.memoryNodes),
      touches_(lineSize) {}

void TouchMaker::onAccesses(perfdata::AccessReader& reader, const perfdata::Stretch& stretch) {
  reader.each(stretch, [this](const perfdata::AccessSample& sample)
                           __attribute__((always_inline)) { add(sample, 0); });
}

const Places::Code& TouchMaker::findCode(const analysis::AddressSpace& space, uint64_t ip, bool kernelMode,
                                         bool exact) {
  const std::lock_guard lock(shared_.mutex);
  return codes_.add(ip, codeVersion(versionOf(versionOf(space), kernelMode), exact),
                    shared_.places.codeAt(space, ip, kernelMode, exact));
}

const DataPage& TouchMaker::findPage(const analysis::AddressSpace& space, uint64_t address, bool kernelMode) {
  const std::lock_guard lock(shared_.mutex);
  return pages_.add(address >> DataPage::kBits, versionOf(versionOf(space), kernelMode),
                    shared_.places.dataAt(space, address, kernelMode));
}

uint16_t TouchMaker::findNode(uint16_t cpu) {
  if (cpu == Touch::kNoCpu) return Touch::kNoNode;
  for (auto next = static_cast<uint32_t>(nodeOfCpu_.size()); next <= cpu; ++next)
    nodeOfCpu_.push_back(static_cast<uint16_t>(cpuNodes_.of(next).value_or(Touch::kNoNode)));
  return nodeOfCpu_[cpu];
}

}  // namespace cacheline::c2c
