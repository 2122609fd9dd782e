// Debug information that no compiler writes: one unit, its DIEs byte by byte.
#pragma once

#include <cstdint>
#include <string>

#include "fixture.h"

namespace cacheline::symbols::test {

/// The DIEs of a unit, the root first.
class Dies {
 public:
  /// Of the next one: what references to it say.
  uint32_t here() const { return kHeader + static_cast<uint32_t>(bytes_.size()); }
  Dies& byte(unsigned value) {
    bytes_ += static_cast<char>(value);
    return *this;
  }
  Dies& word(uint64_t value, int bytes = 4) {
    for (int i = 0; i < bytes; i++) byte(static_cast<unsigned>(value >> (8 * i)) & 0xff);
    return *this;
  }
  Dies& text(const std::string& value) {
    bytes_ += value + '\0';
    return *this;
  }
  Dies& repeat(size_t times, unsigned value) {
    bytes_.append(times, static_cast<char>(value));
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr uint32_t kHeader = 12;
  std::string bytes_;
};

/// Where the object `data` of 64 bytes lies.
inline constexpr uint64_t kMadeData = 0x500000;

/// A binary with `data` and these DIEs. `abbreviations`: in assembler, without the end of the list.
inline std::string madeBinary(const TempDir& dir, const std::string& abbreviations, const Dies& dies) {
  writeFile(dir.file("dies"), dies.bytes());
  writeFile(dir.file("made.s"),
            ".text; .globl _start; _start: nop\n"
            ".data; .globl data; .type data, @object; .size data, 64; data: .skip 64\n"
            ".section .debug_abbrev,\"\",@progbits\n" +
                abbreviations +
                "\n.byte 0\n.section .debug_info,\"\",@progbits\n"
                ".long infoEnd - info; info: .short 5; .byte 1, 8; .long 0\n.incbin \"" +
                dir.file("dies") + "\"\ninfoEnd:\n");
  mustRun("gcc -nostdlib -static -Wl,-Tdata=0x500000 -o " + dir.file("made") + " " + dir.file("made.s"));
  return dir.file("made");
}

}  // namespace cacheline::symbols::test
