// Format: DWARF 5, 6.2.4; DWARF 4, 6.2.4 for versions 2 to 4.
#include "symbols/file_table.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "symbols/die.h"
#include "symbols/elf_file.h"

namespace cacheline::symbols {

std::string sourcePath(const std::string& compilationDir, std::string_view name) {
  if (name.empty() || name == "???") return {};  // what libdw says for a missing entry
  std::string joined(name);
  if (name[0] != '/' && !compilationDir.empty()) joined = compilationDir + "/" + joined;
  const bool absolute = joined[0] == '/';
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= joined.size();) {
    const size_t end = std::min(joined.find('/', begin), joined.size());
    const std::string_view part = std::string_view(joined).substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!parts.empty() && parts.back() != "..") {
        parts.pop_back();
        continue;
      }
      if (absolute) continue;
    }
    parts.push_back(part);
  }
  std::string path;
  for (std::string_view part : parts) {
    if (absolute || !path.empty()) path += '/';
    path += part;
  }
  return path;
}

struct FileTable::Header {
  Cursor cursor;
  bool wide = false;  ///< 64-bit DWARF
  Bytes strings, lineStrings;
  std::string_view compilationDir;

  uint64_t offset() { return wide ? cursor.word<uint64_t>() : cursor.word<uint32_t>(); }
  /// Up to the next NUL, which must be there.
  std::string_view text() {
    const std::string_view found = stringAt(cursor.rest, 0);
    const Bytes bytes = cursor.take(found.size() + 1);
    if (bytes.empty() || bytes.back() != 0) cursor.good = false;
    return found;
  }
};

namespace {

constexpr uint64_t kMostEntries = 1 << 20;  // of one table

}  // namespace

FileTable::FileTable(Dwarf_Die& unit, std::string compilationDir)
    : compilationDir_(std::move(compilationDir)) {
  size_t count = 0;
  if (readHeader(unit))
    names_.resize(entries_.size());
  else if (dwarf_getsrcfiles(&unit, &files_, &count) == 0)
    names_.resize(count);
}

/// False: libdw has to be asked.
bool FileTable::readHeader(Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  Dwarf_Word at = 0;
  uint8_t kind = 0;
  if (unit.cu == nullptr ||
      dwarf_cu_info(unit.cu, nullptr, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) != 0 ||
      kind == DW_UT_split_compile || kind == DW_UT_split_type ||
      dwarf_attr(&unit, DW_AT_stmt_list, &attribute) == nullptr || dwarf_formudata(&attribute, &at) != 0)
    return false;
  Elf* elf = dwarf_getelf(dwarf_cu_getdwarf(unit.cu));
  GElf_Ehdr file;
  // The sections of an object file want relocating.
  if (gelf_getehdr(elf, &file) == nullptr || file.e_type == ET_REL) return false;
  const Bytes lines = plainSection(elf, ".debug_line");
  if (at >= lines.size()) return false;
  ElfFormat format;
  format.swapped = (file.e_ident[EI_DATA] == ELFDATA2MSB) != (std::endian::native == std::endian::big);
  const char* folder = stringAttribute(unit, DW_AT_comp_dir);
  Header header{{lines.subspan(static_cast<size_t>(at)), format},
                false,
                plainSection(elf, ".debug_str"),
                plainSection(elf, ".debug_line_str"),
                folder != nullptr ? folder : ""};
  Cursor& cursor = header.cursor;
  uint64_t length = cursor.word<uint32_t>();
  header.wide = length == UINT32_MAX;
  if (header.wide) length = cursor.word<uint64_t>();
  cursor.rest = cursor.take(length);
  const auto version = cursor.word<uint16_t>();
  if (version < 2 || version > 5) return false;
  if (version == 5) cursor.take(2);  // sizes of addresses and segment selectors
  cursor.rest = cursor.take(header.offset());
  cursor.take(version >= 4 ? 5 : 4);  // of instructions, lines and opcodes
  const uint8_t opcodes = cursor.byte();
  cursor.take(opcodes == 0 ? 0 : opcodes - 1);
  if (cursor.good && (version == 5 ? readTables(header) : readOldTables(header)) && cursor.good) return true;
  entries_.clear();
  return false;
}

/// Folders, then files, each as the forms before them say.
bool FileTable::readTables(Header& header) {
  Cursor& cursor = header.cursor;
  std::vector<std::string_view> folders;
  for (const bool isFile : {false, true}) {
    std::vector<std::pair<uint64_t, uint64_t>> formats(cursor.byte());  // content and form
    for (auto& [content, form] : formats) {
      content = cursor.uleb();
      form = cursor.uleb();
    }
    const uint64_t count = cursor.uleb();
    if (!cursor.good || count > kMostEntries || (formats.empty() && count > 0)) return false;
    for (uint64_t i = 0; i < count; ++i) {
      std::string_view name;
      uint64_t folder = 0;
      for (const auto& [content, form] : formats) {
        std::string_view text;
        uint64_t number = 0;
        switch (form) {
          case DW_FORM_string:
            text = header.text();
            break;
          case DW_FORM_line_strp:
            text = stringAt(header.lineStrings, header.offset());
            break;
          case DW_FORM_strp:
            text = stringAt(header.strings, header.offset());
            break;
          case DW_FORM_udata:
            number = cursor.uleb();
            break;
          case DW_FORM_data1:
            number = cursor.byte();
            break;
          case DW_FORM_data2:
            number = cursor.word<uint16_t>();
            break;
          case DW_FORM_data16:
            cursor.take(16);
            break;
          default:
            return false;
        }
        if (content == DW_LNCT_path) name = text;
        if (content == DW_LNCT_directory_index) folder = number;
      }
      if (!cursor.good || name.empty()) return false;
      if (!isFile) {
        folders.push_back(name);
      } else {
        if (folder >= folders.size()) return false;
        entries_.push_back({name, folders[static_cast<size_t>(folder)]});
      }
    }
  }
  return true;
}

/// Both count from 1; number 0 is the unit's folder, and no file.
bool FileTable::readOldTables(Header& header) {
  Cursor& cursor = header.cursor;
  std::vector<std::string_view> folders{header.compilationDir};
  for (std::string_view folder; !(folder = header.text()).empty() && folders.size() < kMostEntries;)
    folders.push_back(folder);
  entries_.emplace_back();
  for (std::string_view name; !(name = header.text()).empty() && entries_.size() < kMostEntries;) {
    const uint64_t folder = cursor.uleb();
    cursor.uleb();  // when it was written
    cursor.uleb();  // bytes
    if (!cursor.good || folder >= folders.size()) return false;
    entries_.push_back({name, folders[static_cast<size_t>(folder)]});
  }
  return true;
}

const std::string& FileTable::name(uint64_t number) {
  static const std::string unknown;
  if (number >= names_.size()) return unknown;
  std::string& known = names_[static_cast<size_t>(number)];
  if (!known.empty()) return known;
  if (files_ != nullptr) {
    if (const char* source = dwarf_filesrc(files_, static_cast<size_t>(number), nullptr, nullptr))
      known = sourcePath(compilationDir_, source);
    return known;
  }
  const auto& [name, folder] = entries_[static_cast<size_t>(number)];
  known = name.starts_with('/') || folder.empty()
              ? sourcePath(compilationDir_, name)
              : sourcePath(compilationDir_, std::string(folder) + '/' + std::string(name));
  return known;
}

}  // namespace cacheline::symbols
