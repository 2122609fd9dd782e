// What a person names with --watch, and where it lies in the running processes.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/watch_place.h"
#include "base/error.h"
#include "record/watch_request.h"
#include "record/watch_threads.h"
#include "symbols/linked_files.h"
#include "symbols/module.h"

namespace cacheline::addon {

class WatchExpressions {
 public:
  /// Throws Error(usage) where a text cannot be an expression.
  explicit WatchExpressions(const std::vector<std::string>& texts);

  /// Throws Error(usage) for the first expression that names nothing in the binaries of a program, unless
  /// others may come.
  void check(const symbols::LinkedFiles& files);
  /// The same of what runs: all that it can be is mapped.
  void check(const std::vector<pid_t>& pids);

  /// The words of now. What is not there (yet) is looked for again at the next call.
  std::vector<record::WatchWord> words(const std::vector<pid_t>& pids);
  /// Why one of them was not found so far: one sentence.
  const std::string& why() const { return why_; }
  /// While the program runs, a sentence each: what was not found so far.
  std::vector<std::string> missing() const;
  /// At the end, a sentence each: what was never found, and what was found in a library.
  std::vector<std::string> remarks() const;

 private:
  struct Known {
    std::shared_ptr<symbols::Module> module;
    std::optional<analysis::WatchPlace> place;
    bool exported = false;  ///< to other binaries
  };
  /// What a process has mapped, and by which names.
  struct Mapped {
    pid_t pid;
    std::vector<record::MappedPiece> pieces;
    std::string program, root;
  };
  Known& known(const std::string& path, const analysis::WatchExpression& expression);
  /// Among the definitions in a process the lowest one is meant: the program's own, then as the dynamic
  /// loader binds names, then what libraries have for themselves.
  size_t rankOf(const std::string& path, const std::string& program, const Known& known) const;
  bool find(const Mapped& process, const analysis::WatchExpression& expression,
            std::vector<record::WatchWord>& words);
  /// One sentence, with the expression. `others` is said of binaries that may come or might have come.
  std::string whyMissing(const analysis::WatchExpression& expression, const char* others) const;
  [[noreturn]] void refuse(const analysis::WatchExpression& expression) const;

  std::vector<analysis::WatchExpression> list_;
  std::map<std::pair<std::string, std::string>, Known> known_;  ///< by path and expression
  std::set<std::string> found_;                                 ///< expressions that were, at any time
  std::set<std::string> inProgram_;                             ///< and in the program itself
  std::map<std::string, std::string> inLibrary_;  ///< the library that an expression was found in last
  std::map<std::string, std::string> other_;  ///< why an expression has no address, where its name is known
  std::map<std::string, Error> refused_;      ///< what a binary that has the name says of the rest
  std::map<std::string, size_t> loadOrder_;   ///< of the binaries of the program that was started
  std::string more_;                          ///< LinkedFiles::more
  std::string why_;
};

}  // namespace cacheline::addon
