// Programs that cannot be started: one clear sentence, kind usage, nothing left behind.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "record/recorder.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

/// Records and expects Error(usage); its text and next step.
std::string refused(const RecordOptions& options) {
  try {
    recordNow(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    if (std::filesystem::is_directory(options.outputDirectory)) {
      EXPECT_TRUE(std::filesystem::is_empty(options.outputDirectory)) << "something was left behind";
    }
    return std::string(error.what()) + " | " + error.nextStep();
  }
  ADD_FAILURE() << "it was recorded";
  return {};
}

TEST(StartFailure, MissingProgram) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(refused(optionsFor(folder, {folder.file("nope")})), "nope does not exist"));
  EXPECT_TRUE(contains(refused(optionsFor(folder, {"no-such-program-here"})),
                       "there is no program no-such-program-here in PATH"));
  EXPECT_TRUE(contains(refused(optionsFor(folder, {""})), "empty"));
  // Node makes U+FFFD of what is no UTF-8.
  EXPECT_TRUE(contains(refused(optionsFor(folder, {folder.file("n\xef\xbf\xbd")})), "Make a link to it"));
}

TEST(StartFailure, ProgramOfTheWorkingFolderNeedsItsPath) {
  const TemporaryFolder folder;
  writeFile(folder.file("only-here"), "#!/bin/sh\n", 0755);
  RecordOptions options = optionsFor(folder, {"only-here"});
  options.workingDirectory = folder.path();
  EXPECT_TRUE(contains(refused(options), "./only-here"));
}

TEST(StartFailure, NotExecutable) {
  const TemporaryFolder folder;
  writeFile(folder.file("data"), "text", 0644);
  const std::string text = refused(optionsFor(folder, {folder.file("data")}));
  EXPECT_TRUE(contains(text, "is not executable (mode 0644)")) << text;
  EXPECT_TRUE(contains(text, "chmod +x")) << text;
}

TEST(StartFailure, DirectoryAndDevice) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(refused(optionsFor(folder, {folder.path()})), "is a directory"));
  EXPECT_TRUE(contains(refused(optionsFor(folder, {"/dev/null"})), "is not a regular file"));
}

TEST(StartFailure, TextWithoutInterpreterLine) {
  const TemporaryFolder folder;
  writeFile(folder.file("text"), "echo hello\n", 0755);
  const std::string text = refused(optionsFor(folder, {folder.file("text")}));
  EXPECT_TRUE(contains(text, "starts with #!")) << text;
}

TEST(StartFailure, MissingInterpreter) {
  const TemporaryFolder folder;
  writeFile(folder.file("script"), "#!/no/such/interpreter -x\n", 0755);
  const std::string text = refused(optionsFor(folder, {folder.file("script")}));
  EXPECT_TRUE(contains(text, "interpreter /no/such/interpreter does not exist")) << text;
}

TEST(StartFailure, MissingDynamicLoader) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "loaderless", kSpin, "-Wl,--dynamic-linker=/no/such/loader.so");
  EXPECT_TRUE(contains(refused(optionsFor(folder, {program})), "dynamic loader"));
}

TEST(StartFailure, ProgramForAnotherMachine) {
  const TemporaryFolder folder;
  // An ELF header for AArch64 (e_machine 183) and nothing else.
  std::string elf(64, '\0');
  elf.replace(0, 7,
              "\x7f"
              "ELF\x02\x01\x01",
              7);
  elf[16] = 2;
  elf[18] = static_cast<char>(183);
  elf[20] = 1;
  elf[52] = 64;
  writeFile(folder.file("arm"), elf, 0755);
  const std::string text = refused(optionsFor(folder, {folder.file("arm")}));
  EXPECT_TRUE(contains(text, "is a program for aarch64, this machine is x86_64")) << text;
}

TEST(StartFailure, ContradictoryOptions) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(refused(optionsFor(folder, {})), "no program"));
  RecordOptions options = optionsFor(folder, {"/bin/true"});
  options.frequency = 0;
  EXPECT_TRUE(contains(refused(options), "0 samples"));
  options = optionsFor(folder, {"/bin/true"});
  options.durationSeconds = -1;
  EXPECT_TRUE(contains(refused(options), "duration"));
  options = optionsFor(folder, {"/bin/true"});
  options.workingDirectory = folder.file("nowhere");
  EXPECT_TRUE(contains(refused(options), "working folder"));
  options = optionsFor(folder, {"/bin/true"});
  options.outputDirectory = folder.file("nowhere");
  EXPECT_TRUE(contains(refused(options), "output folder"));
}

TEST(StartFailure, AScriptWithAnInterpreterIsRecorded) {
  const TemporaryFolder folder;
  const std::string spin = compile(folder, "spin", kSpin);
  writeFile(folder.file("script"), "#!/bin/sh\n" + spin + " 1 0.2\nexit 5\n", 0755);
  RecordOptions options = optionsFor(folder, {folder.file("script")});
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 5);
  EXPECT_TRUE(anyContains(result.warnings, "is a script"));
  EXPECT_GT(Recorded(options.outputDirectory).samplesByComm["spin"], 30u);
}

TEST(StartFailure, ProgramsAreFoundInTheProgramsOwnPath) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("bin"));
  writeFile(folder.file("bin/only-there"), "#!/bin/sh\nexit 4\n", 0755);
  RecordOptions options = optionsFor(folder, {"only-there"});
  options.environment = {"PATH=/nowhere:" + folder.file("bin")};
  EXPECT_EQ(recordNow(options).exitStatus, 4);
}

}  // namespace
}  // namespace cacheline::record::test
