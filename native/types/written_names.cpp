// Scopes end at `::` and `.`, but not inside of brackets.
#include "types/written_names.h"

#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace cacheline::types {
namespace {

bool opens(char c) {
  return c == '<' || c == '(' || c == '[' || c == '{';
}
bool closes(char c) {
  return c == '>' || c == ')' || c == ']' || c == '}';
}

/// As g++ spells them, or C allows, and as people and clang do. The longer ones first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kIntegers = {
    {{"long long unsigned int", "unsigned long long"},
     {"long unsigned int", "unsigned long"},
     {"short unsigned int", "unsigned short"},
     {"unsigned long long int", "unsigned long long"},
     {"unsigned long int", "unsigned long"},
     {"unsigned short int", "unsigned short"},
     {"long int", "long"},
     {"short int", "short"}}};

bool isWordLetter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

void replaceWords(std::string& text, std::string_view words, std::string_view by) {
  for (size_t at = 0; (at = text.find(words, at)) != std::string::npos; at++) {
    const size_t end = at + words.size();
    if ((at > 0 && isWordLetter(text[at - 1])) || (end < text.size() && isWordLetter(text[end]))) continue;
    text.replace(at, words.size(), by);
  }
}

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < name.size(); i++) {
    depth += opens(name[i]) ? 1 : closes(name[i]) ? -1 : 0;
    const size_t length = name.substr(i).starts_with("::") ? 2 : name[i] == '.' ? 1 : 0;
    if (depth != 0 || length == 0) continue;
    parts.push_back(name.substr(begin, i - begin));
    i += length - 1;
    begin = i + 1;
  }
  parts.push_back(name.substr(begin));
  return parts;
}

/// `Box<int>` of `Box<int,Deleter<int>>`: the bracket that `written` closes ends with the name.
bool isComponent(std::string_view written, std::string_view whole) {
  if (written == whole) return true;
  if (!written.ends_with('>') || !whole.ends_with('>')) return false;
  written.remove_suffix(1);
  if (!whole.starts_with(written) || !whole.substr(written.size()).starts_with(',')) return false;
  int depth = 1;
  for (size_t i = written.size(); i + 1 < whole.size() && depth > 0; i++)
    depth += opens(whole[i]) ? 1 : closes(whole[i]) ? -1 : 0;
  return depth == 1;
}

/// Its scopes are some of `whole`'s, in their order.
bool isShort(std::string_view written, std::string_view whole) {
  const std::vector<std::string_view> wanted = components(written), all = components(whole);
  if (!isComponent(wanted.back(), all.back())) return false;
  size_t at = 0;
  for (size_t i = 0; i + 1 < all.size() && at + 1 < wanted.size(); i++)
    if (isComponent(wanted[at], all[i])) at++;
  return at + 1 == wanted.size();
}

}  // namespace

std::string squeezedName(std::string_view name) {
  for (const std::string_view word : {"struct ", "class ", "union "})
    if (name.starts_with(word)) name.remove_prefix(word.size());
  std::string text(name);
  if (name.find(' ') != std::string_view::npos)
    for (const auto& [spelling, usual] : kIntegers) replaceWords(text, spelling, usual);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  return text;
}

NameFit fitOfName(std::string_view written, std::string_view name) {
  if (written.empty() || written.size() > name.size()) return NameFit::none;
  if (name.ends_with(written)) {
    const std::string_view front = name.substr(0, name.size() - written.size());
    if (front.empty()) return NameFit::whole;
    if (front.ends_with("::") || front.ends_with(".")) return NameFit::tail;
  }
  return isShort(written, name) ? NameFit::shortened : NameFit::none;
}

std::string_view lastComponent(std::string_view name) {
  return components(name).back();
}

}  // namespace cacheline::types
