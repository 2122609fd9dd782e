// From the words of a filter to its terms.
#include "profile/query.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "profile/line_order.h"

namespace cacheline::profile {

namespace {

using analysis::Filter;

constexpr size_t kLongestQuery = 4096, kLongestPattern = 256;  // bytes
constexpr uint32_t kHighestCpu = 65'534;
constexpr size_t kMostCpus = 4096;  // listed by a filter: each is looked for at each sample

struct Word {
  std::string text;  ///< as it was written, for messages
  bool negated = false;
  std::string key, sign, value;  ///< sign: ":", ">", ">=", "<", "<=", "="
};

[[noreturn]] void refuse(const std::string& what, const std::string& next) {
  throw Error(ErrorKind::usage, what, next);
}

constexpr std::string_view kHitm = "hitm.total", kPeer = "peer.total";

constexpr const char* kTerms =
    "Terms are time:, cpu:, thread:, process:, mode:, line:, object:, type:, member:, function:, file:, "
    "verdict:, and contended, samples, loads, stores, hitm, peer and threads with > >= < <= or =.";

/// Words are parted by spaces; a value may be quoted ("unsigned long").
std::vector<Word> wordsOf(std::string_view text) {
  std::vector<Word> words;
  size_t at = 0;
  while (true) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    if (at == text.size()) return words;
    const size_t begin = at;
    Word word;
    if (text[at] == '-') {
      word.negated = true;
      ++at;
    }
    const size_t keyEnd = std::min(text.find_first_of(":<>= \t", at), text.size());
    word.key = std::string(text.substr(at, keyEnd - at));
    at = keyEnd;
    if (at < text.size() && text[at] != ' ' && text[at] != '\t') {
      word.sign = text[at++];
      if (word.sign != ":" && word.sign != "=" && at < text.size() && text[at] == '=')
        word.sign += text[at++];
    }
    bool quoted = false;
    for (; at < text.size() && (quoted || (text[at] != ' ' && text[at] != '\t')); ++at) {
      if (text[at] == '"')
        quoted = !quoted;
      else
        word.value += text[at];
    }
    word.text = std::string(text.substr(begin, at - begin));
    if (quoted) refuse("the filter has a quotation mark that is never closed: " + word.text, "");
    if (word.sign.empty()) refuse("'" + word.text + "' is not a filter term", kTerms);
    if (word.value.empty()) refuse("the term '" + word.text + "' has no value", kTerms);
    if (word.value.size() > kLongestPattern)
      refuse("a value of the filter has more than " + std::to_string(kLongestPattern) + " bytes", "");
    words.push_back(std::move(word));
  }
}

std::optional<double> decimalOf(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      std::signbit(value))
    return std::nullopt;
  return value;
}

std::optional<uint32_t> wholeOf(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "1.2-3s", "1.2-", "-3s", "10%-20%".
void addTime(const Word& word, SampleTerms& terms) {
  const auto wrong = [&]() {
    refuse(
        "'" + word.text + "' is not a time window",
        "Write time:1.2-3s, in seconds since the first sample, or time:10-20%; either end may be left out.");
  };
  if (word.negated)
    refuse("a time window cannot be negated: '" + word.text + "'", "Write the times to keep.");
  if (terms.filter.hasWindow()) refuse("the filter has two time windows", "Keep one of them.");
  const size_t dash = word.value.find('-');
  if (dash == std::string::npos) wrong();
  std::string_view from = std::string_view(word.value).substr(0, dash),
                   to = std::string_view(word.value).substr(dash + 1);
  const auto cut = [](std::string_view& end, char unit) {
    if (!end.ends_with(unit)) return false;
    end.remove_suffix(1);
    return true;
  };
  // As in 1.2-3s, a unit at the end holds for both.
  const bool fromShare = cut(from, '%'), toShare = cut(to, '%'), toSeconds = !toShare && cut(to, 's');
  const bool fromSeconds = !fromShare && cut(from, 's');
  if ((from.empty() && to.empty()) || (fromShare && !to.empty() && !toShare) || (fromShare && toSeconds) ||
      (fromSeconds && toShare))
    wrong();
  terms.shares = fromShare || toShare;
  const double scale = terms.shares ? 100 : 1;
  for (const auto& [text, end] : {std::pair(from, &terms.filter.from), std::pair(to, &terms.filter.to)}) {
    if (text.empty()) continue;
    const std::optional<double> value = decimalOf(text);
    if (!value || (terms.shares && *value > 100)) wrong();
    *end = *value / scale;
  }
  if (terms.filter.from >= terms.filter.to)
    refuse("the time window ends before it begins: '" + word.text + "'", "");
}

/// "0-3,8".
void addCpus(const Word& word, Filter& filter) {
  std::vector<uint32_t>& cpus = word.negated ? filter.notCpus : filter.cpus;
  std::string_view rest = word.value;
  while (true) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const size_t dash = item.find('-');
    const std::optional<uint32_t> first = wholeOf(item.substr(0, dash)),
                                  last =
                                      dash == std::string_view::npos ? first : wholeOf(item.substr(dash + 1));
    if (!first || !last || *first > *last || *last > kHighestCpu || *last - *first >= kMostCpus ||
        cpus.size() + (*last - *first) >= kMostCpus)
      refuse("'" + word.text + "' is not a list of CPUs", "Write cpu:0-3,8.");
    for (uint32_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (item.size() == rest.size()) return;
    rest.remove_prefix(item.size() + 1);
  }
}

void addMode(const Word& word, Filter& filter) {
  if (word.value != "user" && word.value != "kernel")
    refuse("'" + word.text + "' is not a mode", "Write mode:user or mode:kernel.");
  const Filter::Mode mode =
      (word.value == "user") != word.negated ? Filter::Mode::user : Filter::Mode::kernel;
  if (filter.mode != Filter::Mode::all && filter.mode != mode)
    refuse("the filter asks for both user and kernel mode, so no sample is left",
           "Ask for one of them, or for none.");
  filter.mode = mode;
}

bool isSampleTerm(const Word& word, SampleTerms& terms) {
  if (word.key == "time")
    addTime(word, terms);
  else if (word.key == "cpu")
    addCpus(word, terms.filter);
  else if (word.key == "mode")
    addMode(word, terms.filter);
  else if (word.key == "thread" || word.key == "process")
    terms.tasks.push_back({word.key == "process", word.negated, wholeOf(word.value), Pattern(word.value)});
  else
    return false;
  terms.text += word.text + ' ';
  return true;
}

analysis::Verdict verdictOf(const Word& word) {
  using analysis::Verdict;
  for (const Verdict verdict : {Verdict::falseSharing, Verdict::trueSharing, Verdict::mixed,
                                Verdict::readShared, Verdict::privateLine}) {
    const std::string_view name = analysis::verdictName(verdict);
    if (word.value == name || word.value == name.substr(0, name.find(' '))) return verdict;
  }
  refuse("'" + word.text + "' is not a verdict",
         "Verdicts are verdict:false, true, mixed, read-shared and private.");
}

std::optional<Compare> compareOf(std::string_view sign) {
  for (const auto& [text, compare] :
       {std::pair("<", Compare::less), std::pair("<=", Compare::atMost), std::pair("=", Compare::equal),
        std::pair(">=", Compare::atLeast), std::pair(">", Compare::more)})
    if (sign == text) return compare;
  return std::nullopt;
}

/// What the columns of the table are called that say the numbers; empty: there is none by that key.
std::string_view columnOf(std::string_view key) {
  for (const auto& [text, column] : {std::pair<std::string_view, std::string_view>("contended", "contended"),
                                     {"samples", "records"},
                                     {"loads", "loads"},
                                     {"stores", "stores.total"},
                                     {"hitm", kHitm},
                                     {"peer", kPeer},
                                     {"threads", "threads"}})
    if (key == text) return column;
  return {};
}

std::optional<LineKey> nameOf(std::string_view key) {
  for (const auto& [text, name] : {std::pair("line", LineKey::line), std::pair("object", LineKey::object),
                                   std::pair("type", LineKey::type), std::pair("member", LineKey::member),
                                   std::pair("function", LineKey::function), std::pair("file", LineKey::file),
                                   std::pair("verdict", LineKey::verdict)})
    if (key == text) return name;
  return std::nullopt;
}

LineTerm lineTerm(const Word& word) {
  LineTerm term{.negated = word.negated, .pattern = Pattern(word.value)};
  if (const std::string_view number = columnOf(word.key); !number.empty()) {
    const std::optional<Compare> compare = compareOf(word.sign);
    const std::optional<double> value = decimalOf(word.value);
    if (!compare || !value)
      refuse("'" + word.text + "' compares nothing", "Write " + word.key + ">100; also >=, <, <= and =.");
    term.key = LineKey::number;
    term.number = number;
    term.compare = *compare;
    term.value = *value;
    return term;
  }
  const std::optional<LineKey> name = nameOf(word.key);
  if (!name) refuse("'" + word.text + "' is not a filter term", kTerms);
  term.key = *name;
  if (term.key == LineKey::verdict) term.verdict = verdictOf(word);
  return term;
}

bool fitsCode(const LineTerm& term, const analysis::CodeName& code) {
  const bool functions = term.key == LineKey::function;
  return term.pattern.fits(functions ? code.symbol : code.file) ||
         std::ranges::any_of(code.inlined, [&](const symbols::SourceFrame& frame) {
           return term.pattern.fits(functions ? frame.function : frame.file);
         });
}

std::string hexText(uint64_t address) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

bool fits(const LineTerm& term, const analysis::Line& line) {
  switch (term.key) {
    case LineKey::number:
      return holds(term, numberOf(term.number)(line));
    case LineKey::verdict:
      return line.verdict == term.verdict;
    case LineKey::line:
      return term.pattern.fits(hexText(line.address));
    default:
      return std::ranges::any_of(line.accesses,
                                 [&](const analysis::Access& access) { return fitsAccess(term, access); });
  }
}

}  // namespace

Query parseQuery(std::string_view text) {
  if (text.size() > kLongestQuery)
    refuse("the filter has more than " + std::to_string(kLongestQuery) + " bytes", "Write fewer terms.");
  Query query;
  for (const Word& word : wordsOf(text)) {
    const bool comparison = !columnOf(word.key).empty();
    if (!comparison && word.sign != ":")
      refuse("'" + word.text + "' compares something that is not a number", "Write " + word.key + ":VALUE.");
    if (!isSampleTerm(word, query.samples)) query.lines.push_back(lineTerm(word));
  }
  return query;
}

bool fitsAccess(const LineTerm& term, const analysis::Access& access) {
  switch (term.key) {
    case LineKey::object:
      return term.pattern.fits(access.data.object);
    case LineKey::type:
      return term.pattern.fits(access.data.type);
    case LineKey::member:
      return term.pattern.fits(access.data.field);
    default:
      return fitsCode(term, *access.code);
  }
}

bool holds(const LineTerm& term, double number) {
  const double amount = std::max(0.0, number);  // what no sample could tell was not counted
  switch (term.compare) {
    case Compare::less:
      return amount < term.value;
    case Compare::atMost:
      return amount <= term.value;
    case Compare::equal:
      return amount == term.value;
    case Compare::atLeast:
      return amount >= term.value;
    case Compare::more:
      return amount > term.value;
  }
  return false;
}

bool selects(const std::vector<LineTerm>& terms, const analysis::Line& line) {
  for (const LineTerm& term : terms) {
    if (term.negated || term.key == LineKey::number) {
      if (fits(term, line) == term.negated) return false;
    } else if (std::ranges::none_of(terms, [&](const LineTerm& other) {
                 return other.key == term.key && !other.negated && fits(other, line);
               })) {
      return false;
    }
  }
  return true;
}

void checkEvidence(const std::vector<LineTerm>& terms, const analysis::Report& report) {
  for (const LineTerm& term : terms) {
    if (term.key != LineKey::number) continue;
    if (term.number == kHitm && !report.hitmKnown)
      refuse("the filter counts HITMs, which this recording does not have",
             "Count contended samples instead.");
    if (term.number == kPeer && !report.peerKnown)
      refuse("the filter counts peer hits, which this recording does not have",
             "Count contended samples instead.");
  }
}

}  // namespace cacheline::profile
