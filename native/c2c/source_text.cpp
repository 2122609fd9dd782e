// Source places as text.
#include "c2c/source_text.h"

#include <array>
#include <filesystem>

#include "text/terminal_text.h"

namespace cacheline::c2c {

namespace {

/// Where compilers and distributions keep headers: an atomic's own line says nothing to the one who uses it.
bool isSystemHeader(std::string_view file) {
  constexpr std::array<std::string_view, 3> kFolders{"/usr/include/", "/usr/lib/", "/usr/local/include/"};
  for (const std::string_view folder : kFolders)
    if (file.starts_with(folder)) return true;
  return false;
}

std::string normal(std::string_view path) {
  return std::filesystem::path(path).lexically_normal().string();
}

}  // namespace

SourceText::SourceText(std::string_view folder) : folder_(folder.empty() ? "" : normal(folder)) {
  if (!folder_.empty() && !folder_.ends_with('/')) folder_ += '/';
}

void SourceText::append(std::string& out, const analysis::CodeName& code) {
  const std::string* file = &code.file;
  uint32_t line = code.line;
  for (size_t i = 0; i < code.inlined.size() && (file->empty() || isSystemHeader(*file)); ++i) {
    const symbols::SourceFrame& frame = code.inlined[i];
    if (frame.file.empty() || (!file->empty() && isSystemHeader(frame.file))) continue;
    file = &frame.file;
    line = frame.line;
  }
  if (file->empty())
    out += "unknown";
  else
    append(out, *file, line);
}

void SourceText::append(std::string& out, const std::string& file, uint32_t line) {
  const auto [path, isNew] = paths_.try_emplace(file);
  if (isNew) path.value() = text::printable(readablePath(file));
  out += path->second;
  if (line == 0) return;
  out += ':';
  text::appendNumber(out, line);
}

std::string SourceText::readablePath(const std::string& file) const {
  if (folder_.empty() || !file.starts_with('/')) return file;
  const std::string path = normal(file);
  return path.starts_with(folder_) && path.size() > folder_.size() ? path.substr(folder_.size()) : file;
}

}  // namespace cacheline::c2c
