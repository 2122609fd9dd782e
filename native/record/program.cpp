// Program look-up and the sentences about programs.
#include "record/program.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace cacheline::record {
namespace {

using Kind = symbols::BinaryInfo::Kind;

std::string seenFromHere(const std::string& path, const std::string& workingDirectory) {
  return path.starts_with('/') || workingDirectory.empty() ? path : workingDirectory + "/" + path;
}

/// Empty where it can be executed, else the end of the sentence "NAME ...", and the step that helps.
struct Obstacle {
  std::string what, nextStep;
};
Obstacle obstacleOf(const std::string& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) {
    const bool replaced = file.find("\xef\xbf\xbd") != std::string::npos;  // U+FFFD, by Node
    if (errno == ENOENT || errno == ENOTDIR)
      return {"does not exist", replaced
                                    ? "Make a link to it whose name is UTF-8: other names cannot be given"
                                    : "Check the path"};
    return {std::string("cannot be read: ") + std::strerror(errno), "Check the permissions of its folders"};
  }
  if (S_ISDIR(info.st_mode)) return {"is a directory, not a program", "Name a program in it"};
  if (!S_ISREG(info.st_mode)) return {"is not a regular file", "Name a program"};
  if (::access(file.c_str(), X_OK) != 0) {
    char mode[16];
    std::snprintf(mode, sizeof mode, "%04o", info.st_mode & 07777);
    return {std::string("is not executable (mode ") + mode + ")", "chmod +x " + file};
  }
  return {};
}

std::string machineArchitecture() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "unknown";
}

}  // namespace

Program findProgram(const std::string& name, const std::string& workingDirectory,
                    const std::vector<std::string>& environment) {
  Program program;
  program.name = name;
  if (name.empty()) throw Error(ErrorKind::usage, "the program's name is empty", "Name a program to record");
  if (name.find('/') != std::string::npos) {
    program.path = name;
    program.file = seenFromHere(name, workingDirectory);
    const Obstacle obstacle = obstacleOf(program.file);
    if (!obstacle.what.empty()) throw Error(ErrorKind::usage, name + " " + obstacle.what, obstacle.nextStep);
    program.info = symbols::inspectBinary(program.file);
    return program;
  }
  const std::string path = valueIn(environment, "PATH");
  std::string unusable;
  for (std::string_view rest = path; !path.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(end == 0 ? "." : rest.substr(0, end));
    program.path = folder + "/" + name;
    program.file = seenFromHere(program.path, workingDirectory);
    const Obstacle obstacle = obstacleOf(program.file);
    if (obstacle.what.empty()) {
      program.info = symbols::inspectBinary(program.file);
      return program;
    }
    if (unusable.empty() && ::access(program.file.c_str(), F_OK) == 0)
      unusable = program.path + " " + obstacle.what;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (!unusable.empty()) throw Error(ErrorKind::usage, unusable, "Name the program by its path");
  const bool here = obstacleOf(seenFromHere(name, workingDirectory)).what.empty();
  throw Error(ErrorKind::usage, "there is no program " + name + " in PATH",
              here ? "The one in the working folder is ./" + name : "Check the name, or give its path");
}

Error startError(const Program& program, const StartFailure& failure, const std::string& workingDirectory) {
  const std::string reason = std::strerror(failure.errnum);
  if (failure.step == StartFailure::Step::workingDirectory)
    return {ErrorKind::usage, "cannot change to the working folder " + workingDirectory + ": " + reason,
            "Name an existing folder"};
  if (failure.step == StartFailure::Step::standardStreams)
    return {ErrorKind::internal, "cannot connect the program's standard streams: " + reason};

  const symbols::BinaryInfo& info = program.info;
  switch (failure.errnum) {
    case ENOEXEC: {
      const std::string machine = machineArchitecture();
      if (!info.architecture.empty() && info.architecture != machine)
        return {ErrorKind::usage,
                program.name + " is a program for " + info.architecture + ", this machine is " + machine,
                "Record a program built for this machine"};
      return {ErrorKind::usage,
              program.name +
                  " cannot be executed: it is neither a program for this machine nor a script "
                  "that starts with #!",
              "If it is a script, name its interpreter: sh " + program.name};
    }
    case ENOENT:
      if (info.kind == Kind::script)
        return {ErrorKind::usage,
                program.name + " is a script whose interpreter " + info.interpreter + " does not exist",
                "Correct its first line, or install the interpreter"};
      return {ErrorKind::usage,
              program.name + " cannot be executed: the dynamic loader it names is not installed",
              "Look at it with: readelf -l " + program.name + " | grep interpreter"};
    case EACCES:
      return {ErrorKind::usage, program.name + " cannot be executed: " + reason,
              "Look for a noexec mount, or a script whose interpreter is not executable"};
    default:
      return {ErrorKind::usage, program.name + " cannot be executed: " + reason, ""};
  }
}

std::vector<std::string> programWarnings(const Program& program, const std::string& machine) {
  const symbols::BinaryInfo& info = program.info;
  const std::string name = "'" + program.name + "'";  // begins sentences
  std::vector<std::string> warnings;
  if (info.kind == Kind::script) {
    warnings.push_back(name + " is a script: the recording covers " +
                       (info.interpreter.empty() ? "its interpreter" : info.interpreter) +
                       " and every program that it starts");
    return warnings;
  }
  if (info.architecture.empty()) return warnings;
  if (info.architecture != machine)
    warnings.push_back(name + " is a program for " + info.architecture + " on a machine that is " + machine +
                       ": its samples cannot be decoded");
  if (!info.debugInfo)
    warnings.push_back(info.symbolTable
                           ? name +
                                 " has no debug information of its own: unless a separate debug file is "
                                 "found, source lines are unknown; build it with -g"
                           : name +
                                 " is stripped: unless a separate debug file is found, its functions and "
                                 "variables show as addresses; build it with -g and without strip");
  if (info.staticallyLinked)
    warnings.push_back(name + " is statically linked: accesses in its libraries count as the program's own");
  return warnings;
}

}  // namespace cacheline::record
