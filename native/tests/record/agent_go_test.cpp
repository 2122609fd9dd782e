// The sampling agent and Go: goroutines' stacks have no room for its signal. Go's marks (the section
// .go.buildinfo, the note "Go") are in C programs here, and one program is Go's own.
#include <gtest/gtest.h>

#include "agent_run.h"
#include "base/error.h"
#include "fixture.h"
#include "record/preloading.h"

namespace cacheline::record::test {
namespace {

const char* const kGoSection = R"(
__attribute__((section(".go.buildinfo"), used)) static char info[] = "\xff Go buildinf:";
)";
/// As the linker of Go writes it: type 4, the name with two zeros behind it.
const char* const kGoNote = R"(
__asm__(".pushsection .note.go.buildid,\"a\",@note\n.balign 4\n.long 4, 4, 4\n.ascii \"Go\\0\\0abcd\"\n.popsection");
)";

const char* const kGoThreads = R"(
#include <pthread.h>
#include <time.h>
static volatile long sink;
static void burn(double seconds) {
  struct timespec t;
  do {
    for (int i = 0; i < 20000; i++) sink++;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  } while (t.tv_sec + t.tv_nsec * 1e-9 < seconds);
}
static void* in_thread(void* unused) {
  burn(0.2);
  return 0;
}
static void run_thread(void) {
  pthread_t id;
  pthread_create(&id, 0, in_thread, 0);
  pthread_join(id, 0);
}
)";

Program programOf(const std::string& file) {
  Program program;
  program.name = program.path = program.file = file;
  program.info = symbols::inspectBinary(file);
  return program;
}

TEST(AgentGo, GoProgramsAreRefusedHoweverTheyAreLinked) {
  const TemporaryFolder folder;
  const std::string source = std::string(kGoSection) + "int main() { return 0; }";
  for (const char* flags : {"-no-pie", "-fPIE -pie -s", "-static"}) {
    const Program program = programOf(compile(folder, "go", source, flags));
    const std::optional<Blocker> blocker = whyNoAgent(Target{}, CACHELINE_SAMPLER, &program);
    ASSERT_TRUE(blocker) << flags;
    EXPECT_EQ(blocker->what, "Go program") << flags;
    RecordOptions options = optionsFor(folder, {program.file});
    options.collector = CollectorChoice::agent;
    options.agentLibrary = CACHELINE_SAMPLER;
    try {
      recordNow(options);
      FAIL() << flags;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::impossible) << flags;
      EXPECT_TRUE(contains(error.what(), "it is a Go program")) << error.what();
      EXPECT_TRUE(contains(error.nextStep(), "--collector clock")) << error.nextStep();
    }
    EXPECT_FALSE(exists(options.outputDirectory + "/perf.data")) << flags;
  }
}

TEST(AgentGo, InGoProgramsItStaysQuietAndSaysSo) {
  const TemporaryFolder folder;
  for (const char* mark : {kGoSection, kGoNote}) {
    const std::string program =
        compile(folder, "go", mark + std::string(kGoThreads) + "int main() { burn(0.2); run_thread(); }");
    AgentRun run;
    run.run(folder, {"/bin/sh", "-c", program});
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.recorded->samplesByComm["go"], 0u);
    EXPECT_TRUE(anyContains(run.warnings, "1 process was not sampled: a Go program")) << mark;
  }
}

std::string note(const std::string& sizesAndType, const std::string& text) {
  return "__asm__(\".pushsection .note.test,\\\"a\\\",@note\\n.balign 4\\n.long " + sizesAndType +
         "\\n.ascii " + text + "\\n.popsection\");\n";
}

/// Sections of that many names, as -ffunction-sections leaves them where nothing merges them.
std::string sections(int count, const std::string& name) {
  std::string source;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    source += "__attribute__((section(\".s" + number + name + "\"), used)) static int in_section_" + number +
              " = 1;\n";
  }
  return source;
}

/// What a stripped program without a build ID still has.
TEST(AgentGo, ThePlacesOfItsFunctionsAreAMarkToo) {
  const TemporaryFolder folder;
  const std::string mark =
      "__attribute__((section(\".gopclntab\"), used)) static char places[] = \"\\xf1\";\n";
  const std::string program = compile(
      folder, "go", mark + std::string(kGoThreads) + "int main() { burn(0.2); run_thread(); }", "-O1 -w -s");
  AgentRun run;
  run.run(folder, {"/bin/sh", "-c", program});
  EXPECT_EQ(run.recorded->samplesByComm["go"], 0u);
  EXPECT_TRUE(anyContains(run.warnings, "1 process was not sampled: a Go program"));
}

/// Gold writes its version into a note of type 4.
TEST(AgentGo, OtherNotesAndSectionsAreNoMarks) {
  const TemporaryFolder folder;
  const std::string gos = "\\\"Go\\\\0\\\\0abcd\\\"", golds = "\\\"GNU\\\\0gold\\\"";
  for (const std::string& unlike :
       {note("4, 4, 5", gos), note("4, 4, 4", golds), note("0, 8, 4", gos), note("4, 0x7ffffff0, 4", golds),
        note("0xfffffff0, 4, 4", golds), sections(120, ""), sections(80, std::string(100, 'x'))}) {
    const std::string program =
        compile(folder, "plain", unlike + kGoThreads + "int main() { burn(0.3); run_thread(); }");
    AgentRun run;
    run.run(folder, {program});
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_GT(run.recorded->samplesByComm["plain"], 0u) << unlike.substr(0, 200);
    EXPECT_FALSE(anyContains(run.warnings, "Go program")) << unlike.substr(0, 200);
  }
}

TEST(AgentGo, ItStopsWhereALibraryOfGosIsLoaded) {
  const TemporaryFolder folder;
  const std::string library =
      compile(folder, "library.so",
              kGoNote + std::string(kGoThreads) +
                  "__attribute__((constructor)) static void start(void) { run_thread(); }",
              "-O1 -fPIC -shared");
  const std::string program = compile(folder, "loads", kGoThreads + std::string(R"(
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  burn(0.2);
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) return 3;
  burn(1);
})"),
                                      "-O1 -g -w");
  AgentRun alone;
  alone.run(folder, {program});
  AgentRun run;
  run.run(folder, {program, library});
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_GT(run.recorded->samples, 0u) << "what was before that";
  EXPECT_LT(run.recorded->samples, alone.recorded->samples / 3);
  EXPECT_TRUE(anyContains(run.warnings, "1 process was not sampled")) << "loads";
}

/// The package os/user makes it use cgo, so that it is linked dynamically, and threads are pthread_create's.
TEST(AgentGo, AGoProgramThatAScriptStartsRuns) {
  NEED_TOOL("go", "golang");
  const TemporaryFolder folder;
  writeFile(folder.file("main.go"), R"(package main
import ("fmt"; "os/user"; "sync")
func deep(n int64) int64 {
	var b [16]int64
	b[n%16] = n
	if n <= 0 { return b[0] }
	return deep(n-1) + b[n%16]
}
func main() {
	user.LookupId("0")
	var group sync.WaitGroup
	for t := 0; t < 4; t++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := int64(0); i < 3000000; i++ { deep(i % 20) }
		}()
	}
	group.Wait()
	fmt.Println("done")
})");
  const ShellResult built =
      shell("cd " + folder.path() + " && GO111MODULE=off GOFLAGS= go build -o program main.go");
  ASSERT_EQ(built.status, 0) << built.output;
  if (programOf(folder.file("program")).info.staticallyLinked) GTEST_SKIP() << "this Go builds without cgo";
  AgentRun run;
  run.run(folder, {"/bin/sh", "-c", folder.file("program") + "; echo $?"});
  EXPECT_EQ(run.output, "done\n0\n");
  EXPECT_TRUE(anyContains(run.warnings, "1 process was not sampled: a Go program"));
}

}  // namespace
}  // namespace cacheline::record::test
