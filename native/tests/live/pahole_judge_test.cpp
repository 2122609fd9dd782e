// Layouts of C structures against `pahole`: sizes, lines, every member's place, holes and padding.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "layouts/layout.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;

const char* const kJudged = R"code(
#include <dirent.h>
#include <netdb.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
struct bits { int a : 3; int b : 7; char c; long d : 40; short e : 9; _Bool f : 1; int g; unsigned h : 1; };
struct bits2 { unsigned a : 20, b : 20; char x; unsigned c : 4; };
struct bits3 { char x; int a : 4; char y; long z : 33; long w : 31; int last : 5; };
struct packed_bits { char c; int a : 5; int b : 30; short s; } __attribute__((packed));
struct packed_long { char c; unsigned long a : 60; unsigned b : 30; short s; } __attribute__((packed));
struct zero { int a : 3; int : 0; int b : 2; char c[]; };
struct nest { char a; struct { long b; char c; } in; struct bits bb; union { int i; char q[9]; }; int arr[3][2]; }
  __attribute__((aligned(64)));
struct unnamed { unsigned a : 1; long long : 50; unsigned b : 1; };
struct unnamed2 { int a : 31; unsigned b : 1; int : 7; short c : 9; };
struct unnamed3 { char c; int : 4; int b : 3; };
struct unnamed4 { char c; int : 12; int b : 3; };
struct byte_flags { unsigned char a : 1, b : 2; unsigned char c : 7; unsigned short d : 3; };
struct wide { long double l; char c; __int128 i; char d; };
struct packed { char c; long l; short s; } __attribute__((packed));
struct pointers { void (*call)(int); char tag; const char* const* names; struct nowhere* opaque; float f; };
struct aligned_member { char c; int i __attribute__((aligned(32))); char d; };
struct open_end { int n; long values[]; };
struct one_bit { unsigned on : 1; };
struct lines { char a[63]; long b; char c[64]; short d; };
#define USE(t) struct t t##_kept;
USE(bits) USE(bits2) USE(bits3) USE(packed_bits) USE(packed_long) USE(zero) USE(unnamed) USE(unnamed2)
USE(unnamed3) USE(unnamed4) USE(nest) USE(byte_flags) USE(wide)
USE(packed) USE(pointers) USE(aligned_member) USE(open_end) USE(one_bit) USE(lines)
USE(stat) USE(sigaction) USE(timespec) USE(rusage) USE(dirent) USE(termios) USE(iphdr) USE(tcphdr) USE(tcp_info)
USE(sockaddr_in) USE(sockaddr_un) USE(addrinfo) USE(hostent) USE(tm) USE(rlimit) USE(servent) USE(protoent)
USE(sched_param) USE(itimerspec) USE(sigevent)
FILE file_kept; pthread_mutex_t mutex_kept; pthread_cond_t cond_kept; siginfo_t info_kept;
)code";

/// What pahole says of one structure; members as "offset[:bit] size".
struct Said {
  uint64_t size = 0, lines = 0, holes = 0, holeBytes = 0, bitHoleBits = 0, padding = 0;
  std::vector<std::string> members;
};

uint64_t number(const std::string& line, const char* pattern) {
  std::smatch match;
  return std::regex_search(line, match, std::regex(pattern)) ? std::stoull(match[1]) : 0;
}

/// The structures that stand at the beginning of a line, by name.
std::map<std::string, Said> parse(const std::string& output) {
  std::map<std::string, Said> all;
  std::istringstream lines(output);
  const std::regex start(R"(^struct (\w+) \{$)"),
      bitField(R"(^\t[^\t].*:\d+;\s*/\*\s*(\d+):\s*(\d+)\s+(\d+)\s*\*/)"),
      member(R"(^\t(?:[^\t/]|\} ?).*;\s*/\*\s*(\d+)\s+(\d+)\s*\*/)");
  Said* said = nullptr;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, start)) {
      said = &(all[match[1]] = {});
    } else if (said == nullptr) {
      continue;
    } else if (line.starts_with("}")) {
      said = nullptr;
    } else if (std::regex_search(line, match, bitField)) {
      said->members.push_back(match[1].str() + ":" + match[2].str() + " " + match[3].str());
    } else if (std::regex_search(line, match, member)) {
      said->members.push_back(match[1].str() + " " + match[2].str());
    } else if (line.starts_with("\t/*")) {
      if (const uint64_t size = number(line, R"(size: (\d+), cachelines)")) said->size = size;
      if (const uint64_t count = number(line, R"(cachelines: (\d+),)")) said->lines = count;
      if (const uint64_t count = number(line, R"( holes: (\d+), sum holes)")) said->holes = count;
      if (const uint64_t bytes = number(line, R"(sum holes: (\d+))")) said->holeBytes = bytes;
      if (const uint64_t bits = number(line, R"(sum bit holes: (\d+))")) said->bitHoleBits += bits;
      if (const uint64_t bits = number(line, R"(bit_padding: (\d+))")) said->bitHoleBits += bits;
      if (const uint64_t bytes = number(line, R"(/\* padding: (\d+))")) said->padding = bytes;
    }
  }
  return all;
}

Said ours(const Layout& layout) {
  Said said{layout.size, layout.lines, 0, 0, 0, layout.padding, {}};
  for (const Hole& hole : layout.holes) {
    if (hole.bits == 0) said.holes++;
    said.holeBytes += hole.size;
    said.bitHoleBits += hole.bits;
  }
  for (const LayoutMember& member : layout.members)
    said.members.push_back(std::to_string(member.offset) +
                           (member.bitSize != 0 ? ":" + std::to_string(member.bitOffset) : "") + " " +
                           std::to_string(member.size));
  return said;
}

class PaholeJudge : public testing::TestWithParam<const char*> {};

TEST_P(PaholeJudge, AgreesWithOurLayouts) {
  NEED_TOOL("pahole", "pahole");
  const std::string compiler = std::string(GetParam()).substr(0, std::string(GetParam()).find(' '));
  if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler << ": apt-get install " << compiler;
  TempDir dir;
  Program program(dir, "c", kJudged, std::string(GetParam()).substr(compiler.size()), compiler);
  const auto all = parse(symbols::test::mustRun("pahole " + dir.file("program") + " 2>/dev/null"));
  EXPECT_GE(all.size(), 40u);
  size_t members = 0;
  for (const auto& [name, said] : all) {
    const std::vector<TypeId> found = program.types().named(name);
    ASSERT_EQ(found.size(), 1u) << name;
    const Said own = ours(layoutOf(program.table(), found[0], {}));
    members += said.members.size();
    EXPECT_EQ(own.size, said.size) << name;
    EXPECT_EQ(own.lines, said.lines) << name;
    EXPECT_EQ(own.members, said.members) << name;
    EXPECT_EQ(own.holes, said.holes) << name;
    EXPECT_EQ(own.holeBytes, said.holeBytes) << name;
    EXPECT_EQ(own.bitHoleBits, said.bitHoleBits) << name;
    EXPECT_EQ(own.padding, said.padding) << name;
  }
  EXPECT_GE(members, 250u);
}

INSTANTIATE_TEST_SUITE_P(Builds, PaholeJudge,
                         testing::Values("gcc -gdwarf-4", "gcc -gdwarf-5", "gcc -gdwarf-2 -gstrict-dwarf",
                                         "clang -gdwarf-4"));

}  // namespace
}  // namespace cacheline::layouts
