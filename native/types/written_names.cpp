// Scopes end at `::` and `.`, but not inside of brackets.
#include "types/written_names.h"

#include <algorithm>
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
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kIntegers = {
    {{"long long unsigned int", "unsigned long long"},
     {"long unsigned int", "unsigned long"},
     {"short unsigned int", "unsigned short"},
     {"unsigned long long int", "unsigned long long"},
     {"unsigned long int", "unsigned long"},
     {"unsigned short int", "unsigned short"},
     {"long int", "long"},
     {"short int", "short"},
     {"unsigned int", "unsigned"}}};

constexpr int kDeepestArgument = 64;  // of templates in templates

/// They stand where names do, and are none.
constexpr std::array<std::string_view, 12> kKeywords = {"const", "volatile", "unsigned", "signed",
                                                        "char",  "short",    "int",      "long",
                                                        "float", "double",   "bool",     "void"};

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

/// A name around its first list of template arguments: `Box`, `int` and `4`, `*` of `Box<int,4>*`.
struct Bracketed {
  std::string_view before, behind;
  std::vector<std::string_view> arguments;  ///< empty: there is no such list
};

Bracketed bracketed(std::string_view name) {
  const size_t open = name.find('<');
  Bracketed parts{name.substr(0, open), {}, {}};
  if (open == std::string_view::npos) return parts;
  size_t begin = open + 1;
  int depth = 0;
  for (size_t i = open; i < name.size(); i++) {
    depth += opens(name[i]) ? 1 : closes(name[i]) ? -1 : 0;
    if (depth != 0 && (depth != 1 || name[i] != ',')) continue;
    parts.arguments.push_back(name.substr(begin, i - begin));
    begin = i + 1;
    if (depth == 0) break;
  }
  if (depth != 0) return {name, {}, {}};
  parts.behind = name.substr(begin);
  return parts;
}

bool isShort(std::string_view written, std::string_view whole, int depth);

/// `Box<int>` of `Box<int,Deleter<int>>`; what is written of an argument may be short, too.
bool isComponent(std::string_view written, std::string_view whole, int depth) {
  if (written == whole) return true;
  if (depth == kDeepestArgument || !written.substr(0, whole.find('<') + 1).ends_with('<')) return false;
  const Bracketed wanted = bracketed(written), all = bracketed(whole);
  if (wanted.before != all.before || wanted.arguments.empty() ||
      wanted.arguments.size() > all.arguments.size() || !isComponent(wanted.behind, all.behind, depth + 1))
    return false;
  for (size_t i = 0; i < wanted.arguments.size(); i++)
    if (!isShort(wanted.arguments[i], all.arguments[i], depth + 1)) return false;
  return true;
}

/// Its scopes are some of `whole`'s, in their order.
bool isShort(std::string_view written, std::string_view whole, int depth) {
  const std::vector<std::string_view> wanted = components(written), all = components(whole);
  if (!isComponent(wanted.back(), all.back(), depth)) return false;
  size_t at = 0;
  for (size_t i = 0; i + 1 < all.size() && at + 1 < wanted.size(); i++)
    if (isComponent(wanted[at], all[i], depth)) at++;
  return at + 1 == wanted.size();
}

std::string_view withoutOwnArguments(std::string_view name) {
  const std::string_view last = lastComponent(name);
  const size_t open = last.find_first_of("<[");
  return open == std::string_view::npos ? name : name.substr(0, name.size() - last.size() + open);
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
  const size_t first =
      static_cast<size_t>(std::find_if_not(written.begin(), written.end(), isWordLetter) - written.begin());
  if (name.find(written.substr(0, first)) == std::string_view::npos) return NameFit::none;
  if (isShort(written, name, 0)) return NameFit::shortened;
  return isShort(written, withoutOwnArguments(name), 0) ? NameFit::bare : NameFit::none;
}

std::string withArguments(std::string_view name,
                          const std::function<std::string(std::string_view argument)>& meaning) {
  std::string text;
  int depth = 0;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && (isWordLetter(name[end]) || name.substr(end).starts_with("::")))
      end += name[end] == ':' ? 2 : 1;
    const std::string_view word = name.substr(at, end - at);
    if (word.empty()) {
      depth += opens(name[at]) ? 1 : closes(name[at]) ? -1 : 0;
      text += name[at++];
      continue;
    }
    const bool isName = depth > 0 && std::find(kKeywords.begin(), kKeywords.end(), word) == kKeywords.end() &&
                        std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
                        !name.substr(end).starts_with('<') && !text.ends_with("::");
    text += isName ? meaning(word) : std::string(word);
    at = end;
  }
  return text;
}

std::string_view lastComponent(std::string_view name) {
  return components(name).back();
}

}  // namespace cacheline::types
