// What keeps ld.so from preloading (ld.so(8), "Secure-execution mode"), and the kernel from sampling: it ends
// the perf events of a process that becomes "undumpable" (prctl(2), PR_SET_DUMPABLE) in its exec.
#include "record/preloading.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace cacheline::record {
namespace {

bool changesUser(const std::string& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return false;
  return ((info.st_mode & S_ISUID) != 0 && info.st_uid != ::geteuid()) ||
         ((info.st_mode & S_ISGID) != 0 && info.st_gid != ::getegid());
}

/// To the superuser they add nothing.
bool addsCapabilities(const std::string& file) {
  return ::geteuid() != 0 && ::getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

std::vector<std::string> withEntries(std::vector<std::string> environment,
                                     const std::vector<std::string>& changes) {
  const auto nameOf = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  for (const std::string& change : changes) {
    std::erase_if(environment, [&](const std::string& entry) { return nameOf(entry) == nameOf(change); });
    environment.push_back(change);
  }
  return environment;
}

std::optional<Blocker> whyNotSampled(const Program& program) {
  if (changesUser(program.file))
    return Blocker{"set-user-ID",
                   program.name +
                       " is set-user-ID or set-group-ID, and the kernel lets nobody sample what it "
                       "runs as another user",
                   "Record a copy without that mode"};
  if (addsCapabilities(program.file))
    return Blocker{"file capabilities",
                   program.name + " has file capabilities, and the kernel lets nobody sample what gains them",
                   "Record a copy of it: cp leaves them behind"};
  if (::faccessat(AT_FDCWD, program.file.c_str(), R_OK, AT_EACCESS) != 0)
    return Blocker{"not readable",
                   program.name +
                       " is not readable by this user, and the kernel lets users sample only "
                       "programs that they may read",
                   "chmod +r " + program.file};
  return std::nullopt;
}

std::optional<Blocker> whyNotPreloaded(const Program& program) {
  if (program.info.staticallyLinked)
    return Blocker{"static linking",
                   "it is statically linked, and the agent comes in through the dynamic loader",
                   "Link it dynamically"};
  if (changesUser(program.file))
    return Blocker{"set-user-ID",
                   "it is set-user-ID or set-group-ID, and the dynamic loader preloads nothing into such "
                   "programs",
                   "Record a copy without that mode"};
  if (addsCapabilities(program.file))
    return Blocker{"file capabilities",
                   "it has file capabilities, and the dynamic loader preloads nothing into such programs",
                   "Record a copy of it: cp leaves them behind"};
  return std::nullopt;
}

std::optional<Blocker> whyNotSampledByAgent(const Program& program) {
  if (program.info.go)
    return Blocker{"Go program",
                   "it is a Go program, and goroutines' stacks have no room for the agent's signal",
                   "Record with --collector clock, where perf_event_open is allowed"};
  return whyNotPreloaded(program);
}

}  // namespace cacheline::record
