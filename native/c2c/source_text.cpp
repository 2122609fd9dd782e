// Source places as text.
#include "c2c/source_text.h"

#include <filesystem>

#include "analysis/own_place.h"
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
  const analysis::OwnCode told = analysis::ownCode(
      code, [this](const std::string& file) { return known(file).owner; }, false);
  if (told.file->empty())
    out += "unknown";
  else
    append(out, *told.file, told.line);
}

void SourceText::append(std::string& out, const std::string& file, uint32_t line) {
  out += known(file).text;
  if (line == 0) return;
  out += ':';
  text::appendNumber(out, line);
}

const SourceText::File& SourceText::known(const std::string& file) {
  const auto [at, isNew] = files_.try_emplace(file);
  if (isNew) at.value() = {text::printable(readablePath(file)), analysis::ownerOf(file)};
  return at->second;
}

std::string SourceText::readablePath(const std::string& file) const {
  if (folder_.empty() || !file.starts_with('/')) return file;
  const std::string path = normal(file);
  return path.starts_with(folder_) && path.size() > folder_.size() ? path.substr(folder_.size()) : file;
}

}  // namespace cacheline::c2c
