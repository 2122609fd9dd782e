// ElfImage: one parsed ELF file and, on first use, its sorted symbols.
#include "symbols/elf_image.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <mutex>

#include "base/error.h"
#include "symbols/elf_image_impl.h"
#include "symbols/relocation.h"

namespace cacheline::symbols {

namespace {

/// `objcopy --only-keep-debug` keeps where segments are in memory and forgets where they were in the file.
/// Linkers write them one after the other, at the next offset that is congruent to the address modulo the
/// alignment: so the offsets can be computed again. What is lost is where .bss begins.
void restoreFileOffsets(std::vector<Segment>& segments) {
  const auto hasCode = [](const Segment& s) { return s.executable && s.fileSize == s.memorySize; };
  if (std::any_of(segments.begin(), segments.end(), hasCode)) return;  // eu-strip -f keeps them
  uint64_t end = 0;
  for (Segment& segment : segments) {
    const uint64_t align = std::has_single_bit(segment.alignment) ? segment.alignment : 1;
    segment.fileOffset = end + ((segment.address - end) & (align - 1));
    segment.fileSize = segment.memorySize;
    if (__builtin_add_overflow(segment.fileOffset, segment.fileSize, &end)) return;
  }
}

}  // namespace

ElfImage::ElfImage(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ElfImage::~ElfImage() = default;

std::shared_ptr<const ElfImage> ElfImage::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->mapped = MappedFile::open(path);
  impl->path = path;
  impl->file = ElfFile::parse(impl->mapped.bytes(), path);
  impl->buildId = impl->file.buildId();
  for (const Elf64_Phdr& program : impl->file.programHeaders)
    if (program.p_type == PT_LOAD)
      impl->segments.push_back({program.p_vaddr, program.p_offset, program.p_filesz, program.p_memsz,
                                program.p_align, (program.p_flags & PF_R) != 0, (program.p_flags & PF_W) != 0,
                                (program.p_flags & PF_X) != 0});
  impl->debugOnly = impl->file.isDebugOnly();
  if (impl->debugOnly) restoreFileOffsets(impl->segments);
  return std::shared_ptr<const ElfImage>(new ElfImage(std::move(impl)));
}

const SymbolTable& ElfImage::Impl::symbols() const {
  std::call_once(symbolsOnce, [this] {
    const auto tryTable = [this](const ElfFile& from, uint32_t type) {
      if (symbolTable.empty()) symbolTable = SymbolTable(from, type);
    };
    tryTable(file, SHT_SYMTAB);
    if (symbolFile) tryTable(symbolFile->impl_->file, SHT_SYMTAB);
    tryTable(file, SHT_DYNSYM);
  });
  return symbolTable;
}

const ThreadLocals& ElfImage::Impl::threadLocals() const {
  std::call_once(threadLocalsOnce, [this] { threadLocalTable = ThreadLocals(file); });
  return threadLocalTable;
}

CodeCopies ElfImage::Impl::copyCode() const {
  CodeCopies copies;
  const ElfSection* alternatives = file.section(".altinstructions");
  if (!file.isRelocatable() && alternatives == nullptr) return copies;
  Relocations relocations(file);
  uint64_t left = file.bytes.size();  // sections that share their bytes are a lie
  for (uint32_t i = 0; i < file.sections.size(); ++i) {
    const ElfSection& section = file.sections[i];
    if ((section.header.sh_flags & SHF_EXECINSTR) == 0 || section.bytes.size() > left) continue;
    left -= section.bytes.size();
    auto& bytes = copies[section.header.sh_addr];
    bytes.assign(section.bytes.begin(), section.bytes.end());
    if (file.isRelocatable()) relocations.apply(i, bytes);
  }
  if (alternatives == nullptr || file.header.e_machine != EM_X86_64) return copies;
  std::vector<uint8_t> bytes(alternatives->bytes.begin(), alternatives->bytes.end());
  if (file.isRelocatable())
    relocations.apply(static_cast<uint32_t>(alternatives - file.sections.data()), bytes);
  applyAlternatives(bytes, alternatives->header.sh_addr, copies);
  return copies;
}

Bytes ElfImage::Impl::bytesAt(uint64_t address, uint64_t size) const {
  std::call_once(codeOnce, [this] { code = copyCode(); });
  if (const auto after = code.upper_bound(address); after != code.begin()) {
    const auto& [start, bytes] = *std::prev(after);
    if (address - start < bytes.size()) return clippedSlice(bytes, address - start, size);
  }
  return file.isRelocatable() ? Bytes{} : file.loadedBytes(address, size);
}

const std::string& ElfImage::path() const {
  return impl_->path;
}
const std::string& ElfImage::buildId() const {
  return impl_->buildId;
}
const std::vector<Segment>& ElfImage::segments() const {
  return impl_->segments;
}
uint16_t ElfImage::machine() const {
  return impl_->file.header.e_machine;
}
bool ElfImage::isDebugOnly() const {
  return impl_->debugOnly;
}
bool ElfImage::isRelocatable() const {
  return impl_->file.isRelocatable();
}
bool ElfImage::hasSymbolTable() const {
  return impl_->file.hasSymbolTable();
}
bool ElfImage::hasDebugInfo() const {
  return impl_->file.hasDebugInfo();
}

std::optional<uint64_t> ElfImage::addressOfFileOffset(uint64_t fileOffset) const {
  for (const Segment& segment : impl_->segments)
    if (fileOffset >= segment.fileOffset && fileOffset - segment.fileOffset < segment.fileSize)
      return segment.address + (fileOffset - segment.fileOffset);
  // Mappings begin and end at pages: what is left may be the part of a first or last page outside the
  // segment.
  // Machines with larger pages than 4096 bytes need segments aligned to them. Where two segments share a page
  // of the file, the one that begins last before the offset is it.
  for (const uint64_t page : {uint64_t{4096}, uint64_t{65536}}) {
    uint64_t nearest = 0;  // where the best one so far begins, and 1; 0: behind the offset
    std::optional<uint64_t> address;
    for (const Segment& segment : impl_->segments) {
      if (segment.fileSize == 0 || (page > 4096 && segment.alignment < page)) continue;
      const uint64_t begin = segment.fileOffset / page * page;
      const uint64_t slack = segment.fileOffset - begin;
      if (segment.address < slack || fileOffset < begin) continue;
      const uint64_t size = (slack + segment.fileSize + page - 1) / page * page;
      if (fileOffset - begin >= size) continue;
      const uint64_t start = segment.fileOffset <= fileOffset ? segment.fileOffset + 1 : 0;
      if (address && start <= nearest) continue;
      nearest = start;
      address = segment.address - slack + (fileOffset - begin);
    }
    if (address) return address;
  }
  return std::nullopt;
}

const Symbol* ElfImage::functionAt(uint64_t address) const {
  return impl_->symbols().functionAt(address);
}
const Symbol* ElfImage::dataAt(uint64_t address) const {
  return impl_->symbols().dataAt(address);
}

std::span<const Symbol> ElfImage::dataSymbols() const {
  return impl_->symbols().data();
}

std::vector<std::string_view> ElfImage::threadLocalNames() const {
  std::vector<std::string_view> names;
  const ElfFile& file = impl_->file;
  for (const ElfSection& table : file.sections) {
    const uint32_t type = table.header.sh_type;
    if ((type != SHT_SYMTAB && type != SHT_DYNSYM) || table.header.sh_link >= file.sections.size()) continue;
    for (size_t i = 1, count = file.symbolCount(table); i < count; ++i) {
      const Elf64_Sym symbol = file.symbol(table, i);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF)
        names.push_back(stringAt(file.sections[table.header.sh_link].bytes, symbol.st_name));
    }
  }
  return names;
}

const ThreadLocals& ElfImage::threadLocals() const {
  return impl_->threadLocals();
}

bool ElfImage::exports(std::string_view name) const {
  const ElfFile& file = impl_->file;
  for (const ElfSection& table : file.sections) {
    if (table.header.sh_type != SHT_DYNSYM || table.header.sh_link >= file.sections.size()) continue;
    for (size_t i = 1, count = file.symbolCount(table); i < count; ++i) {
      const Elf64_Sym symbol = file.symbol(table, i);
      if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
          stringAt(file.sections[table.header.sh_link].bytes, symbol.st_name) == name)
        return true;
    }
  }
  return false;
}

std::span<const uint8_t> ElfImage::bytesAt(uint64_t address, uint64_t size) const {
  if (impl_->debugOnly) return {};
  return impl_->bytesAt(address, size);
}

std::string_view ElfImage::sectionAt(uint64_t address) const {
  for (const ElfSection& section : impl_->file.sections)
    if (section.isMapped() && section.contains(address)) return section.name;
  return {};
}

std::optional<Section> ElfImage::section(std::string_view name) const {
  const ElfSection* found = impl_->file.section(name);
  if (found == nullptr) return std::nullopt;
  return Section{found->header.sh_addr, found->header.sh_size};
}

std::optional<uint64_t> ElfImage::addressOfSymbol(std::string_view name) const {
  return impl_->symbols().addressOf(name);
}

std::optional<uint64_t> ElfImage::loadBias(uint64_t start, uint64_t end, uint64_t fileOffset) const {
  for (const Segment& segment : segments()) {
    const uint64_t ahead = segment.fileOffset - fileOffset;
    if (segment.fileOffset >= fileOffset && ahead < end - start) return start + ahead - segment.address;
  }
  return std::nullopt;
}

std::string readBuildId(const std::string& path) {
  try {
    const MappedFile mapped = MappedFile::open(path);
    return ElfFile::parse(mapped.bytes(), path).buildId();
  } catch (const Error&) {
    return {};  // the documented answer: the caller asks for an id, not for a reason
  }
}

}  // namespace cacheline::symbols
