// The text of `objdump -d -w -M intel`, read back as an independent second opinion on decoding.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cacheline::decode {

struct ListedInstruction {
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
  std::string text;      ///< prefixes, mnemonic and operands, without the comment
  std::string mnemonic;  ///< without prefixes
  std::string prefixes;  ///< "lock ", "rep "
  bool memory = false;   ///< names a memory operand
  std::string operand;   ///< what stands in the brackets of the charged operand, or a bare segment offset
  std::string segment;   ///< "fs", "ds", or empty
  std::string size;      ///< "DWORD", "XMMWORD", or empty
  int position = 0;      ///< of that operand: 0 first
  bool hasComment = false;
  uint64_t comment = 0;  ///< objdump's own sum of a rip-relative operand
  bool hasTarget = false;
  uint64_t target = 0;  ///< of a direct branch or call
};

struct ListedFunction {
  std::string name;
  std::vector<ListedInstruction> instructions;
  bool hasBadBytes = false;
};

/// Compiled code and hand-written vector code of this machine, the C library first. Libraries with tables
/// inside .text judge nothing: both sides read noise.
std::vector<std::string> judgedBinaries();

/// True where objdump can be run.
bool haveObjdump();

/// Calls `visit` for every function of the file until it returns false. Throws std::runtime_error where
/// objdump fails.
void listFunctions(const std::string& path, const std::function<bool(const ListedFunction&)>& visit);

}  // namespace cacheline::decode
