// Names of error kinds, and errno in words.
#include "base/error.h"

#include <system_error>

namespace cacheline {

const char* errorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::unreadable:
      return "unreadable";
    case ErrorKind::impossible:
      return "impossible";
    case ErrorKind::io:
      return "io";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

std::string describeErrno(const std::string& action, int errnum) {
  return action + ": " + std::generic_category().message(errnum);
}

}  // namespace cacheline
