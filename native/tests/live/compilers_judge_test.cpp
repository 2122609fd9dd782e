// Our layouts of C++ classes, judged by the compilers: sizes, alignments and the offsets of all members go
// into generated sources as static_assert; members of virtual bases, of which offsetof knows nothing, are
// looked up in objects at run time.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "layouts/layout.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;

const char* const kSource = R"code(
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>
namespace shop {
struct Empty {};
struct Empty2 {};
struct Pod { long a; int b; };
struct Tail { long a = 1; int b = 2; };
struct FromPod : Pod { int c; };
struct FromTail : Tail { int c = 3; };
struct FromEmpty : Empty, Empty2 { char c; };
struct HoldsEmpty { Empty e; int i; };
struct Unique { [[no_unique_address]] Empty e; int i; [[no_unique_address]] Tail t; char tight; };
struct Dynamic { virtual ~Dynamic(); int d; };
struct Second { virtual void f(); long s; };
struct Multi : Pod, Dynamic, Second { char m; };
struct Interface { virtual void g(); };
struct VirtualPod : virtual Pod { int v; };
struct VirtualTail : virtual Tail { int v; };
struct Left : virtual Tail { long l; };
struct Right : virtual Tail { int r; };
struct Diamond : Left, Right { char own; };
struct DeepDiamond : Diamond, virtual Dynamic { short e; };
struct NearlyEmpty : virtual Interface { int n; };
struct Primary : virtual Interface { };
struct TwoPrimaries : Primary, NearlyEmpty { int t; };
struct VirtualEmpty : virtual Empty { int i; };
struct VirtualOfVirtual : virtual Diamond { int q; };
struct alignas(64) Padded { std::atomic<uint32_t> n; };
struct HoldsPadded { char c; Padded p[2]; char last; };
struct VirtualPadded : virtual Padded { int x; };
struct Member { alignas(32) char c; int i; };
struct Bits { int a : 3; unsigned b : 7; char c; long d : 40; bool e : 1; short f : 9; };
union Choice { long l; struct { char a; int b; } s; float f[3]; };
struct Anonymous { int before; union { long l; struct { short x, y; }; }; struct { char z; }; Choice choice; };
struct __attribute__((packed)) Packed { char c; long l; short s; };
struct HoldsPacked { char c; Packed p; int i; };
#pragma pack(push, 2)
struct Pack2 { char c; int i; long l; };
#pragma pack(pop)
struct LongDouble { char c; long double d; __int128 i; };
typedef float Four __attribute__((vector_size(16)));
struct Vectors { Four v[3]; };
struct VirtualVectors : virtual Vectors { char c, d[15]; int e; };
struct Complex { int x; int y; _Complex double z; long double w; };
struct Complex2 { char c; _Complex double z; };
struct Complex3 { _Complex int i; };
struct WideComplex { _Complex long double z; char c; };
struct VirtualComplex : virtual WideComplex, virtual Complex2, virtual Complex3 { int i; };
struct LateTail { LateTail() {} alignas(32) long a; char b; };
struct Long3 { virtual ~Long3() {} long q[3]; };
struct Long32 { virtual ~Long32() {} alignas(32) long r; };
struct PackedMember { char a; int b __attribute__((packed)); long c; };
struct PackedMembers { char a; long b __attribute__((packed)); short c; long d __attribute__((packed)); };
struct PackedBit { int a : 30; long b : 60 __attribute__((packed)); char c; long double d; };
struct VirtualPacked : virtual Pod { char c; long l __attribute__((packed)); };
struct VirtualOfPacked : virtual PackedMembers, virtual PackedMember { char c; };
struct __attribute__((packed)) Pair { int a; short b; };
struct VirtualPair : virtual Pair { char c; };
struct BaseOfPacked : Packed { char own; PackedMember in; };
struct VirtualOfBase : virtual BaseOfPacked, virtual Tail { char c; };
struct UniqueTail : Dynamic { [[no_unique_address]] LateTail t; char in; };
struct VirtualUniqueTail : virtual UniqueTail, virtual Tail { int i; };
struct UniqueBesideVirtual : virtual Long3, virtual Long32 { [[no_unique_address]] LateTail t; };
class Library {
 public:
  std::string name; std::vector<int> list; std::map<int, long> map; std::mutex lock; std::unique_ptr<Pod> pod;
  std::shared_ptr<Pod> shared; std::array<short, 5> array; std::tuple<char, long, Empty> tuple; std::atomic<bool> flag;
  std::pair<int, Tail> pair; int Pod::*member; void (Pod::*method)(); void (*function)(int); Pod& reference;
  Library(Pod& r) : reference(r) {}
};
template <typename T, int N> struct Pool : T { T items[N]; struct Inner { char c; T t; } inner; };
struct Outer { struct Nested; Nested* nested; enum class Color : uint16_t { red } color; };
struct Outer::Nested { char c; double d; };
Dynamic::~Dynamic() {}
void Second::f() {}
void Interface::g() {}
}
#define EACH_TYPE(x) \
  x(Empty) x(Pod) x(Tail) x(FromPod) x(FromTail) x(FromEmpty) x(HoldsEmpty) x(Unique) x(Dynamic) x(Second) \
  x(Multi) x(Interface) x(VirtualPod) x(VirtualTail) x(Left) x(Right) x(Diamond) x(DeepDiamond) x(NearlyEmpty) \
  x(Primary) x(TwoPrimaries) x(VirtualEmpty) x(VirtualOfVirtual) x(Padded) x(HoldsPadded) x(VirtualPadded) \
  x(Member) x(Bits) x(Choice) x(Anonymous) x(Packed) x(HoldsPacked) x(Pack2) x(LongDouble) x(Outer) \
  x(Outer::Nested) x(Vectors) x(VirtualVectors) x(Complex) x(Complex2) x(Complex3) x(WideComplex) \
  x(VirtualComplex) x(LateTail) x(Long3) x(Long32) x(UniqueBesideVirtual) x(PackedMember) \
  x(PackedMembers) x(PackedBit) x(VirtualPacked) x(VirtualOfPacked) x(BaseOfPacked) x(VirtualOfBase) \
  x(UniqueTail) x(VirtualUniqueTail) x(Pair) x(VirtualPair)
)code";
const char* const kUses = R"code(
#define USE(t) { static shop::t object{}; keep = &object; }
void* volatile keep;
void use() { EACH_TYPE(USE) static shop::Pod pod; static shop::Library library(pod); keep = &library;
  static shop::Pool<shop::Tail, 3> pool; keep = &pool; static shop::Pool<shop::Tail, 3>::Inner inner; keep = &inner; }
)code";

bool isVirtual(const Type& type) {
  return !type.virtualBases.empty();
}

class CppJudge : public testing::TestWithParam<std::string> {};

TEST_P(CppJudge, CompilersAgreeWithOurLayouts) {
  const std::string compiler = GetParam().substr(0, GetParam().find(' ')),
                    flags = GetParam().substr(GetParam().find(' '));
  if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler << ": apt-get install g++ clang";
  TempDir dir;
  Program program(dir, "cpp", std::string(kSource) + kUses, flags, compiler);
  std::string asserts = kSource, checks;
  size_t types = 0, offsets = 0, virtualOffsets = 0;
  for (const TypeId id : program.types().all()) {
    const Type& type = program.table()[program.table().strip(id)];
    if (!type.name.starts_with("shop::") || type.name.find("(anonymous)") != std::string::npos) continue;
    const Layout layout = layoutOf(program.table(), id, {64, true});
    types++;
    const std::string alias = "T" + std::to_string(types);  // a macro's argument must have no comma
    asserts += "using " + alias + " = " + type.name + ";\n";
    asserts += "static_assert(sizeof(" + type.name + ") == " + std::to_string(layout.size) + ");\n";
    if (layout.align)
      asserts += "static_assert(alignof(" + type.name + ") == " + std::to_string(*layout.align) + ");\n";
    for (const LayoutMember& member : layout.members) {
      if (member.bitSize != 0 || member.role != Member::Role::field ||
          member.name.find('&') != std::string::npos || member.type.ends_with("&"))
        continue;
      // The library's own types have private parts and names that repeat.
      if (member.name.find("_M_") != std::string::npos || member.name.find("__") != std::string::npos)
        continue;
      const std::string offset = std::to_string(member.offset);
      // A row of an array's elements is that of the first one.
      const std::string path = std::regex_replace(member.name, std::regex("\\[0\\.\\.\\d*\\]"), "[0]");
      if (isVirtual(type)) {
        virtualOffsets++;
        checks += "{ auto& o = *new " + type.name + "; if ((char*)&o." + path + " - (char*)&o != " + offset +
                  ") { std::printf(\"%s %td\\n\", \"" + type.name + " " + path + " " + offset +
                  "\", (char*)&o." + path + " - (char*)&o); bad++; } }\n";
      } else {
        offsets++;
        asserts += "static_assert(offsetof(" + alias + ", " + path + ") == " + offset + ");\n";
      }
    }
  }
  EXPECT_GE(types, 59u);
  EXPECT_GE(offsets, 80u);
  EXPECT_GE(virtualOffsets, 25u);
  const std::string judge = dir.file("judge.cpp");
  std::ofstream(judge) << asserts << "int main() { int bad = 0;\n" << checks << "return bad; }\n";
  const std::string command = compiler + " -std=c++20 -fno-access-control -w " + flags + " -o " +
                              dir.file("judge") + " " + judge + " 2>&1 && " + dir.file("judge");
  const auto result = symbols::test::run(command);
  EXPECT_EQ(result.status, 0) << result.output.substr(0, 4000);
}

INSTANTIATE_TEST_SUITE_P(Compilers, CppJudge,
                         testing::Values("g++ -gdwarf-5", "g++ -gdwarf-4 -fdebug-types-section",
                                         "clang++ -gdwarf-5 -fstandalone-debug",
                                         "clang++ -gdwarf-4 -fstandalone-debug"));

}  // namespace
}  // namespace cacheline::layouts
