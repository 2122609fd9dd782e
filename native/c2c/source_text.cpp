// Source places as text.
#include "c2c/source_text.h"

#include <filesystem>

#include "c2c/foreign_source.h"
#include "text/terminal_text.h"

namespace cacheline::c2c {

namespace {

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
  for (size_t i = 0; i < code.inlined.size() && (file->empty() || known(*file).isForeign); ++i) {
    const symbols::SourceFrame& frame = code.inlined[i];
    if (frame.file.empty() || (!file->empty() && known(frame.file).isForeign)) continue;
    file = &frame.file;
    line = frame.line;
  }
  if (file->empty())
    out += "unknown";
  else
    append(out, *file, line);
}

void SourceText::append(std::string& out, const std::string& file, uint32_t line) {
  out += known(file).text;
  if (line == 0) return;
  out += ':';
  text::appendNumber(out, line);
}

const SourceText::File& SourceText::known(const std::string& file) {
  const auto [at, isNew] = files_.try_emplace(file);
  if (isNew) at.value() = {text::printable(readablePath(file)), isForeignSource(file)};
  return at->second;
}

std::string SourceText::readablePath(const std::string& file) const {
  if (folder_.empty() || !file.starts_with('/')) return file;
  const std::string path = normal(file);
  return path.starts_with(folder_) && path.size() > folder_.size() ? path.substr(folder_.size()) : file;
}

}  // namespace cacheline::c2c
