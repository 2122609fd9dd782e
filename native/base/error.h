// The one error type of the native code: what went wrong, the value seen, and what a person can do next.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace cacheline {

/// What kind of failure this is. The command line maps it to its exit status (see docs/outputs.md).
enum class ErrorKind {
  usage,       ///< the request is wrong: no such program, contradictory options
  unreadable,  ///< an input cannot be read or is malformed
  impossible,  ///< this machine cannot record (blockers in the message)
  io,          ///< writing failed: disk full, permission
  cancelled,   ///< the caller asked to stop
  internal,    ///< a bug of ours
};

/// `message`: cause and value, as a clause without full stop; `nextStep`: empty, or a sentence to act on.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, std::string nextStep = {})
      : std::runtime_error(message), kind_(kind), nextStep_(std::move(nextStep)) {}
  ErrorKind kind() const { return kind_; }
  const std::string& nextStep() const { return nextStep_; }

 private:
  ErrorKind kind_;
  std::string nextStep_;
};

const char* errorKindName(ErrorKind kind);

/// "open /x/y: Permission denied" from errno.
std::string describeErrno(const std::string& action, int errnum);

}  // namespace cacheline
