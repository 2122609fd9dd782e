// Expressions are looked up in the binaries of a program that is to start, then in what is mapped.
#include "addon/watch_expressions.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "record/procfs.h"
#include "record/watch_threads.h"

namespace cacheline::addon {
namespace {

using analysis::WatchExpression;
using record::MappedPiece;
using record::WatchWord;

/// `from`: what the pieces count from. Where that is no multiple of a word, they are cut anew.
void add(pid_t pid, uint64_t from, const std::vector<analysis::WatchPiece>& pieces,
         std::vector<WatchWord>& words) {
  for (const analysis::WatchPiece& piece : pieces)
    for (const analysis::WatchPiece& cut :
         analysis::cutIntoWords(piece.address + from, piece.length, piece.name))
      words.push_back({pid, cut.address, cut.length, cut.name});
}

/// The same file always has the same path, as in /proc/PID/maps: what was read before the start is not read
/// again beside a program that runs, which may be over by then.
std::string withoutLinks(const std::string& path) {
  std::error_code unreadable;
  const std::string plain = std::filesystem::weakly_canonical(path, unreadable).string();
  return unreadable ? path : plain;
}

// Behind the reason why other binaries may come.
constexpr const char* kLooking = ", so the search goes on until the end";
constexpr const char* kLooked = ", and none of those has it";

/// glibc's. musl's is the C library itself, which exports what it has.
bool isDynamicLoader(const std::string& path) {
  return std::filesystem::path(path).filename().string().starts_with("ld-linux");
}

}  // namespace

WatchExpressions::WatchExpressions(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) list_.push_back(analysis::parseWatch(text));
}

void WatchExpressions::check(const symbols::LinkedFiles& files) {
  more_ = files.more;
  for (const std::string& path : files.paths) loadOrder_.try_emplace(withoutLinks(path), loadOrder_.size());
  for (const WatchExpression& expression : list_) {
    if (expression.address) continue;
    const bool found = std::ranges::any_of(files.paths, [&](const std::string& path) {
      return known(withoutLinks(path), expression).place.has_value();
    });
    if (!found && files.more.empty()) refuse(expression);
  }
}

void WatchExpressions::check(const std::vector<pid_t>& pids) {
  words(pids);
  if (pids.empty()) return;
  for (const WatchExpression& expression : list_)
    if (!found_.contains(expression.text)) refuse(expression);
}

std::vector<WatchWord> WatchExpressions::words(const std::vector<pid_t>& pids) {
  std::vector<Mapped> processes;  // all of them now: reading types takes a while, and processes end meanwhile
  for (const pid_t pid : pids)
    processes.push_back({pid, record::mappingsOf(pid), record::linkOf(pid, "exe"), record::foreignRoot(pid)});
  std::vector<WatchWord> words;
  for (const WatchExpression& expression : list_) {
    bool found = false;
    for (const Mapped& process : processes) found |= find(process, expression, words);
    if (found) found_.insert(expression.text);
    if (!found_.contains(expression.text)) why_ = whyMissing(expression, kLooked);
  }
  return words;
}

std::vector<std::string> WatchExpressions::missing() const {
  std::vector<std::string> sentences;
  for (const WatchExpression& expression : list_)
    if (!found_.contains(expression.text))
      sentences.push_back("not watched so far: " + whyMissing(expression, kLooking));
  return sentences;
}

std::vector<std::string> WatchExpressions::remarks() const {
  std::vector<std::string> sentences;
  for (const WatchExpression& expression : list_) {
    if (!found_.contains(expression.text))
      sentences.push_back(whyMissing(expression, kLooked) + ", so it was not watched");
    else if (const auto library = inLibrary_.find(expression.text);
             library != inLibrary_.end() && !inProgram_.contains(expression.text))
      sentences.push_back("--watch " + expression.text +
                          ": the program itself has no variable of that name; watching the one in " +
                          library->second);
  }
  return sentences;
}

WatchExpressions::Known& WatchExpressions::known(const std::string& path, const WatchExpression& expression) {
  Known& known = known_[{path, expression.text}];
  if (known.module) return known;
  known.module = symbols::Module::open(path, "");
  known.place = analysis::placeOf(*known.module, expression);
  known.exported = known.place && analysis::isExported(*known.module, expression);
  if (known.place && !known.exported && isDynamicLoader(path)) {
    // Its copies of the C library's variables are not what the program uses.
    known.place.reset();
    other_.emplace(expression.text, "only the dynamic loader has one, for itself");
  } else if (!known.place) {
    if (const std::string other = analysis::otherwiseNamed(*known.module, expression); !other.empty())
      other_.emplace(expression.text, other);
  }
  return known;
}

size_t WatchExpressions::rankOf(const std::string& path, const std::string& program,
                                const Known& known) const {
  if (program.empty() || path == program) return 0;
  const auto place = loadOrder_.find(path);
  const size_t last = loadOrder_.size();
  return 1 + (place == loadOrder_.end() ? last : place->second) + (known.exported ? 0 : last + 1);
}

bool WatchExpressions::find(const Mapped& process, const WatchExpression& expression,
                            std::vector<WatchWord>& words) {
  if (expression.address) {
    if (!record::isMapped(process.pid, *expression.address, 1)) return false;
    add(process.pid, 0, analysis::cutIntoWords(*expression.address, expression.length, expression.text),
        words);
    return true;
  }
  struct Definition {
    const Known* known = nullptr;
    std::string path;
    uint64_t bias = 0;
    size_t rank = 0;
  } best;
  std::set<std::string> seen;
  for (const MappedPiece& piece : process.pieces) {
    if (!piece.path.starts_with('/') || !seen.insert(piece.path).second) continue;
    const Known* here = nullptr;
    try {
      here = &known(process.root + piece.path, expression);
    } catch (const Error& error) {
      refused_.emplace(expression.text, error);  // another binary may have one that fits
      continue;
    }
    const auto bias = here->place ? here->module->image()->loadBias(piece.start, piece.end, piece.fileOffset)
                                  : std::nullopt;
    if (!bias) continue;
    const size_t rank = rankOf(piece.path, process.program, *here);
    if (best.known == nullptr || rank < best.rank) best = {here, piece.path, *bias, rank};
    if (rank == 0) break;  // nothing can come before it, and libraries are large
  }
  if (best.known == nullptr) return false;
  const analysis::WatchPlace& place = *best.known->place;
  uint64_t from = best.bias;
  if (place.pointer) {
    const auto held = record::wordAt(process.pid, *place.pointer + best.bias);
    if (!held || !record::isMapped(process.pid, *held + place.pieces.front().address, 1)) {
      other_[expression.text] = "the pointer does not lead to memory of the program";
      return false;
    }
    from = *held;
  }
  if (best.rank == 0)
    inProgram_.insert(expression.text);
  else
    inLibrary_[expression.text] = best.path;
  add(process.pid, from, place.pieces, words);
  return true;
}

std::string WatchExpressions::whyMissing(const WatchExpression& expression, const char* others) const {
  if (const auto refused = refused_.find(expression.text); refused != refused_.end())
    return refused->second.what();
  const std::string subject = "--watch " + expression.text + ": ";
  if (expression.address) return subject + "it is not in the program's memory";
  if (const auto other = other_.find(expression.text); other != other_.end()) return subject + other->second;
  return subject + "it names no variable of the program or its libraries" +
         (more_.empty() ? std::string() : "; " + more_ + others);
}

void WatchExpressions::refuse(const WatchExpression& expression) const {
  if (const auto refused = refused_.find(expression.text); refused != refused_.end()) throw refused->second;
  throw Error(ErrorKind::usage, whyMissing(expression, ""),
              "Name a variable with static storage (ns::name, name.member, name[3].member) or an address: "
              "0x4040a0:8");
}

}  // namespace cacheline::addon
