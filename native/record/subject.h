// What a recording is of: a program that it starts, what runs already, or the machine.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/attached.h"
#include "record/child_process.h"
#include "record/program.h"
#include "record/recorder.h"
#include "record/target.h"

namespace cacheline::record {

class Subject {
 public:
  /// Looks the program up, or what is attached to; names that options.watch has are checked there. `options`
  /// is kept. Throws as findProgram(), Attached and the checks of WatchOptions do.
  explicit Subject(const RecordOptions& options);

  /// What options.trace is asked to follow; empty: nothing.
  const std::optional<TraceSubject>& traced() const { return traced_; }
  /// Null: none is started.
  const Program* program() const { return program_ ? &*program_ : nullptr; }
  /// The program's, without an agent.
  const std::vector<std::string>& environment() const { return environment_; }
  /// Sentences for a person, of now. `machine`: its architecture, as uname(2) has it.
  std::vector<std::string> warnings(const std::string& machine) const;

  /// Forks the program and holds it before its exec, in place of one that waits already.
  void hold(const std::vector<std::string>& environment);
  /// options.target, with the process id of a program that is held.
  Target target() const;
  /// Lets the program run; nothing where none is started. Throws Error(usage) where it cannot.
  void start();

  /// Become readable when something of it ends.
  std::vector<int> wakeups() const;
  bool ended();
  /// What is recorded and alive now, as watchpoints ask for it.
  std::vector<pid_t> processes() const;
  /// Those that are attached to; empty for a program and for the machine.
  std::vector<pid_t> attachedTo() const;
  /// User + system time in seconds: of a program that has ended, its waited-for children included, or what
  /// Attached saw.
  double cpuSeconds();

  /// Asks the program to end (SIGTERM, after 5 s SIGKILL) and waits for it; what was attached to goes on.
  void end();
  /// Of the program; empty: it runs, or there is none.
  const std::optional<Ending>& ending() const { return ending_; }

 private:
  const RecordOptions& options_;
  std::optional<Program> program_;
  std::vector<std::string> environment_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<Attached> attached_;
  std::optional<TraceSubject> traced_;
  std::optional<Ending> ending_;
};

}  // namespace cacheline::record
