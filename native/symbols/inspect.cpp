// inspectBinary: the ELF header, program headers and section headers, or the first line of a script.
#include "symbols/inspect.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/mapped_file.h"
#include "symbols/elf_file.h"

namespace cacheline::symbols {
namespace {

constexpr std::string_view kElfMagic(ELFMAG, SELFMAG);

/// The program of "#! PROGRAM [ARGUMENT]"; Linux reads at most the first 256 bytes (BINPRM_BUF_SIZE).
std::string scriptInterpreter(std::string_view text) {
  std::string_view line = text.substr(2, 254);
  line = line.substr(0, line.find('\n'));
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  const size_t end = line.find_first_of(" \t\r", begin);
  return std::string(line.substr(begin, end == std::string_view::npos ? end : end - begin));
}

BinaryInfo::Kind kindOf(const ElfFile& file) {
  if (file.header.e_type == ET_EXEC) return BinaryInfo::Kind::executable;
  if (file.header.e_type != ET_DYN) return BinaryInfo::Kind::otherElf;
  // Linkers mark position-independent executables with DF_1_PIE. Older ones are told by their interpreter,
  // which some libraries have too; those also have a DT_SONAME.
  if ((file.dynamicEntry(DT_FLAGS_1).value_or(0) & DF_1_PIE) != 0) return BinaryInfo::Kind::executable;
  if (file.hasProgramHeader(PT_INTERP) && !file.dynamicEntry(DT_SONAME)) return BinaryInfo::Kind::executable;
  return BinaryInfo::Kind::sharedLibrary;
}

void inspectElf(Bytes bytes, const std::string& path, BinaryInfo& info) {
  info.kind = BinaryInfo::Kind::otherElf;
  // e_machine is at the same place in 32-bit files; byte order is the file's own.
  if (bytes.size() >= 20) {
    const bool big = bytes[EI_DATA] == ELFDATA2MSB;
    info.architecture = machineName(static_cast<uint16_t>(bytes[big ? 19 : 18] | bytes[big ? 18 : 19] << 8));
  }
  if (bytes.size() < sizeof(Elf64_Ehdr) || bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB)
    return;
  const ElfFile file = ElfFile::parse(bytes, path);
  info.kind = kindOf(file);
  info.debugInfo = file.hasDebugInfo();
  info.symbolTable = file.hasSymbolTable();
  info.staticallyLinked = info.kind == BinaryInfo::Kind::executable && !file.hasProgramHeader(PT_INTERP);
  info.go = file.section(".go.buildinfo") != nullptr || file.section(".gopclntab") != nullptr;
  info.buildId = file.buildId();
}

}  // namespace

const char* binaryKindName(BinaryInfo::Kind kind) {
  switch (kind) {
    case BinaryInfo::Kind::executable:
      return "executable";
    case BinaryInfo::Kind::sharedLibrary:
      return "shared library";
    case BinaryInfo::Kind::script:
      return "script";
    case BinaryInfo::Kind::otherElf:
      return "other ELF file";
    case BinaryInfo::Kind::notAProgram:
      return "not a program";
    case BinaryInfo::Kind::unreadable:
      return "unreadable";
  }
  return "unreadable";
}

BinaryInfo inspectBinary(const std::string& path) {
  BinaryInfo info;
  try {
    const MappedFile mapped = MappedFile::open(path);
    const Bytes bytes = mapped.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    info.kind = BinaryInfo::Kind::notAProgram;
    if (text.starts_with(kElfMagic)) {
      inspectElf(bytes, path, info);
    } else if (text.starts_with("#!")) {
      info.kind = BinaryInfo::Kind::script;
      info.interpreter = scriptInterpreter(text);
    }
  } catch (const Error&) {
    info.kind =
        ::access(path.c_str(), R_OK) == 0 ? BinaryInfo::Kind::notAProgram : BinaryInfo::Kind::unreadable;
  }
  return info;
}

}  // namespace cacheline::symbols
