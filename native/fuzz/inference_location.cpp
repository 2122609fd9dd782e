// Any bytes as location expressions: through libdw's operations into ours, then evaluated both ways.
#include <cstring>

#include "inference/location_reader.h"

using namespace cacheline;
using namespace cacheline::inference;

namespace {

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  template <typename T>
  T take() {
    T value{};
    const size_t n = std::min(sizeof value, size_);
    std::memcpy(&value, data_, n);
    data_ += n;
    size_ -= n;
    return value;
  }
  bool empty() const { return size_ == 0; }

 private:
  const uint8_t* data_;
  size_t size_;
};

Expression expressionOf(Bytes& bytes) {
  std::vector<Dwarf_Op> operations(bytes.take<uint8_t>() % 48);
  uint64_t offset = 0;
  for (Dwarf_Op& operation : operations) {
    operation.atom = bytes.take<uint8_t>();
    const auto form = bytes.take<uint8_t>();
    operation.number = (form & 1) != 0 ? bytes.take<uint64_t>() : bytes.take<uint8_t>();
    operation.number2 = (form & 2) != 0 ? bytes.take<uint64_t>() : bytes.take<uint8_t>();
    offset += 1 + (form >> 4);
    operation.offset = offset;
  }
  return compileExpression(nullptr, operations.data(), operations.size(), 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  Registers registers;
  registers.mask = bytes.take<uint64_t>();
  for (uint64_t& value : registers.value) value = bytes.take<uint16_t>();
  const Expression frameBase = expressionOf(bytes), cfa = expressionOf(bytes);
  const LocationContext context{&registers, &frameBase, &cfa, bytes.take<uint64_t>()};
  while (!bytes.empty()) {
    Expression expression = expressionOf(bytes);
    expression.inner.push_back(expressionOf(bytes));
    for (Operation& operation : expression.operations) operation.inner = bytes.take<uint8_t>() % 3;
    Places places;
    evaluate(expression, context, places);
    if (places.count == 0 || places.count > Places::kMost) __builtin_trap();
    const auto linear = linearForm(expression, &frameBase, &cfa);
    if (!linear || (linear->reg != kRegNone && !registers.has(linear->reg))) continue;
    uint64_t number = static_cast<uint64_t>(linear->offset) + (linear->isAddress ? context.loadBias : 0);
    if (linear->reg != kRegNone) number += registers.value[linear->reg];
    if (places.count != 1 || places.piece[0].number != number) __builtin_trap();
  }
  return 0;
}
