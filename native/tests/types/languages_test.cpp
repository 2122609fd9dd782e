// Types of Rust and Go programs whose layouts are fixed or known.
#include <gtest/gtest.h>

#include "layouts/layout.h"
#include "types_fixture.h"

namespace cacheline::types {
namespace {

using namespace layouts;
using namespace test;

const char* const kRust = R"code(
use std::num::NonZeroU32;
use std::sync::atomic::AtomicU64;
#[repr(C)] pub struct Plain { pub a: u8, pub b: u32, pub c: u16 }
#[repr(C, packed)] pub struct Packed { pub a: u8, pub b: u64, pub c: u16 }
#[repr(C, packed(2))] pub struct Packed2 { pub a: u64, pub b: u64 }
#[repr(align(64))] pub struct Aligned { pub a: u64 }
#[repr(C)] pub struct Counter { pub hits: AtomicU64, pub pair: Tuple, pub maybe: Option<NonZeroU32> }
#[repr(C)] pub struct Tuple(pub u8, pub u64);
#[repr(u8)] pub enum Level { Low = 1, High = 9 }
pub enum Shape { Circle(f64), Rect { w: u32, h: u32 }, Nothing }
pub union Bits { pub i: u32, pub f: f32 }
pub mod inner { #[repr(C)] pub struct Generic<T> { pub level: super::Level, pub value: T } }
#[no_mangle] pub static PLAIN: Plain = Plain { a: 1, b: 2, c: 3 };
#[no_mangle] pub static PACKED: Packed = Packed { a: 1, b: 2, c: 3 };
#[no_mangle] pub static PACKED2: Packed2 = Packed2 { a: 1, b: 2 };
#[no_mangle] pub static ALIGNED: Aligned = Aligned { a: 1 };
const _: () = assert!(align_of::<Packed>() == 1 && align_of::<Packed2>() == 2 && align_of::<Aligned>() == 64);
#[no_mangle] pub static GENERIC: inner::Generic<Tuple> = inner::Generic { level: Level::High, value: Tuple(1, 2) };
#[no_mangle] pub static LOW: Level = Level::Low;
#[no_mangle] pub static SHAPE: Shape = Shape::Rect { w: 1, h: 2 };
#[no_mangle] pub static CIRCLE: Shape = Shape::Circle(1.0);
#[no_mangle] pub static NOTHING: Shape = Shape::Nothing;
#[no_mangle] pub static BITS: Bits = Bits { i: 1 };
#[repr(C)] pub struct Row<T: ?Sized> { pub length: u64, pub cells: T }
#[no_mangle] pub static ROW: &Row<[Tuple]> = &Row { length: 2, cells: [Tuple(1, 2), Tuple(3, 4)] };
#[no_mangle] pub static COUNTER: Counter = Counter { hits: AtomicU64::new(1), pair: Tuple(1, 2), maybe: None };
)code";

TEST(Languages, Rust) {
  NEED_TOOL("rustc", "rustc");
  TempDir dir;
  symbols::test::writeFile(dir.file("lib.rs"), kRust);
  symbols::test::mustRun("cd " + dir.path() +
                         " && rustc --edition 2021 -g --crate-name shop --crate-type cdylib " +
                         "-o lib.so lib.rs 2>&1");
  Program program(dir.file("lib.so"));
  EXPECT_EQ(membersText(program.typeOf("PLAIN")), "a@0:1 b@4:4 c@8:2");
  EXPECT_EQ(program.typeOf("PLAIN").language, symbols::Language::rust);
  EXPECT_EQ(program.typeOf("GENERIC").name, "shop::inner::Generic<shop::Tuple>");
  EXPECT_EQ(membersText(program.typeOf("GENERIC")), "level@0:1 value@8:16");
  EXPECT_EQ(program.typeOf("BITS").kind, Kind::unionType);
  EXPECT_EQ(program.fields("GENERIC", 16, 8), "value.1 u64") << "a tuple's field";
  EXPECT_EQ(program.fields("COUNTER", 0, 8), "hits core::sync::atomic::AtomicU64");
  EXPECT_EQ(program.fields("COUNTER", 24, 4),
            "maybe.discriminant u32, maybe.Some.0 core::num::nonzero::NonZero<u32>")
      << "the niche is in the value";
  const TypeId row = program.table().pointee(program.typeOf("ROW").members.at(0).type);
  EXPECT_EQ(program.table()[row].name, "shop::Row<[shop::Tuple]>");
  const auto cells = fieldsAt(program.table(), row, 8 + 16 + 8, 8);
  ASSERT_EQ(cells.size(), 1u) << "behind the structure's size";
  EXPECT_EQ(cells[0].path, "cells[1].1");
  EXPECT_TRUE(endsInFlexibleArray(program.table(), row));
  const Type& shape = program.typeOf("SHAPE");
  EXPECT_EQ(shape.size, 16u);
  EXPECT_EQ(membersText(shape), "discriminant@0:4 Rect.w@4:4 Circle.0@8:8 Rect.h@8:4");
  EXPECT_EQ(shape.members[0].role, Member::Role::discriminant);
  EXPECT_EQ(program.fields("SHAPE", 8, 4), "Circle.0 f64, Rect.h u32");
  for (const auto& [name, align] :
       {std::pair{"Packed", 1u}, {"Packed2", 2u}, {"Aligned", 64u}, {"Plain", 4u}})
    EXPECT_EQ(layoutOf(program.table(), program.types().named(name).at(0), {}).align, align) << name;
  for (const char* name : {"Packed", "Counter", "Aligned"})
    for (const LayoutMember& member :
         layoutOf(program.table(), program.types().named(name).at(0), {}).members)
      EXPECT_EQ(member.alignment, 0u) << name << "." << member.name;
  const auto found = program.types().named("Shape");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(layoutOf(program.table(), found[0], {}).kind, "enum");
}

const char* const kGo = R"code(
package main
type Base struct{ id int32 }
type Worker struct {
	Base
	busy  bool
	count int64
	name  string
	list  []int64
	table map[string]int
	next  *Worker
	any   interface{}
	slots [4]struct { hits uint32; on bool }
}
type Handler struct{ call func(int) string }
var worker Worker
var handler Handler

//go:noinline
func work(own *Worker) { own.count++ }
func main() { work(&worker); println(worker.count, worker.name, handler.call == nil) }
)code";

TEST(Languages, Go) {
  NEED_TOOL("go", "golang");
  TempDir dir;
  symbols::test::writeFile(dir.file("main.go"), kGo);
  symbols::test::mustRun("cd " + dir.path() +
                         " && GO111MODULE=off GOFLAGS= go build -o program main.go 2>&1");
  Program program(dir.file("program"));
  const auto found = program.types().named("Worker");
  ASSERT_EQ(found.size(), 1u);
  const Type& worker = program.table()[program.table().strip(found[0])];
  EXPECT_EQ(worker.name, "main.Worker");
  EXPECT_EQ(worker.language, symbols::Language::go);
  EXPECT_EQ(membersText(worker),
            "Base@0:4 busy@4:1 count@8:8 name@16:16 list@32:24 table@56:8 next@64:8 any@72:16 slots@88:32");
  EXPECT_EQ(program.fields("main.worker", 8, 8), "count int64");
  EXPECT_EQ(program.fields("main.worker", 0, 4), "Base.id int32");
  EXPECT_EQ(program.fields("main.worker", 24, 8), "name.len int");
  EXPECT_EQ(program.fields("main.worker", 40, 8), "list.len int");
  EXPECT_EQ(program.fields("main.worker", 88 + 16, 4), "slots[2].hits uint32");
  EXPECT_EQ(program.table().nameOf(worker.members[6].type), "*main.Worker");
  EXPECT_EQ(program.table().nameOf(worker.members[4].type), "[]int64");
  const auto handler = program.types().named("Handler");
  ASSERT_EQ(handler.size(), 1u);
  EXPECT_EQ(layoutOf(program.table(), handler[0], {}).align, 8u) << "a function's value is a pointer";
  const auto declared = program.types().declaredIn(dir.file("main.go"));
  ASSERT_EQ(declared.size(), 1u) << "parameters are in the file of their function";
  EXPECT_EQ(declared[0].variable, "own");
}

const char* const kEither = "struct pair { long first, second; };\nstruct pair pair;\n";

TEST(Languages, CAndCxxAreToldApartByTheirUnitsAndNotByNames) {
  const TempDir dir;
  for (const auto& [extension, flags, language] : {std::tuple{"c", "-std=c99", symbols::Language::c},
                                                   {"c", "-std=c17", symbols::Language::c},
                                                   {"cpp", "-std=c++11", symbols::Language::cxx},
                                                   {"cpp", "-std=c++20", symbols::Language::cxx}})
    EXPECT_EQ(Program(dir, extension, kEither, flags).typeOf("pair").language, language) << flags;
}

TEST(Languages, OfNumbersThatAreNewerThanTheLibrary) {
  EXPECT_EQ(symbols::languageOfNumber(0x2b), symbols::Language::cxx);
  EXPECT_EQ(symbols::languageOfNumber(0x2c), symbols::Language::c);
  for (const int number : {-1, 0, 0x13, 0x8001})
    EXPECT_EQ(symbols::languageOfNumber(number), symbols::Language::unknown) << number;
}

TEST(Languages, OfFiles) {
  using symbols::Language;
  for (const auto& [path, language] : {std::pair{"/src/a.c", Language::c},
                                       {"b.cc", Language::cxx},
                                       {"/x.d/b.hpp", Language::cxx},
                                       {"src/lib.rs", Language::rust},
                                       {"main.go", Language::go},
                                       {"common.h", Language::unknown},
                                       {"/a.c/Makefile", Language::unknown},
                                       {"", Language::unknown}})
    EXPECT_EQ(symbols::languageOfFile(path), language) << path;
}

using Languages = std::vector<symbols::Language>;

Languages withoutTypes(Program& program) {
  return program.module().dwarf()->units().languagesWithoutTypes();
}

TEST(LanguagesWithoutTypes, AreThoseOfLimitedDebugInformation) {
  const TempDir dir;
  const char* const source =
      "struct pair { long first; } pair; long get(struct pair* p) { return p->first; }\n";
  Program full(dir, "c", source), limited(dir, "c", source, "-g1");
  EXPECT_EQ(withoutTypes(full), Languages{});
  EXPECT_EQ(withoutTypes(limited), Languages{symbols::Language::c});
  Program cxx(dir, "cpp", source, "-g1");
  EXPECT_EQ(withoutTypes(cxx), Languages{symbols::Language::cxx});
  Program split(dir, "c", source, "-gsplit-dwarf");
  EXPECT_EQ(withoutTypes(split), Languages{}) << "the types are elsewhere";
}

TEST(LanguagesWithoutTypes, OfRustAreToldBesideAFullCLibrary) {
  NEED_TOOL("rustc", "rustc");
  const TempDir dir;
  symbols::test::writeFile(dir.file("part.c"),
                           "struct own { long hits; } own; long hit(void) { return ++own.hits; }\n");
  symbols::test::writeFile(dir.file("lib.rs"),
                           "extern \"C\" { fn hit() -> i64; }\n"
                           "pub struct Pair { pub a: u64 }\n"
                           "#[no_mangle] pub static PAIR: Pair = Pair { a: 1 };\n"
                           "#[no_mangle] pub fn both(p: &Pair) -> u64 { p.a + unsafe { hit() } as u64 }\n");
  symbols::test::mustRun("cd " + dir.path() + " && gcc -g -fPIC -c part.c && ar rcs libpart.a part.o");
  for (const auto& [level, expected] : {std::pair{"1", Languages{symbols::Language::rust}},
                                        {"line-tables-only", {symbols::Language::rust}},
                                        {"2", {}}}) {
    const std::string library = dir.file(std::string("lib") + level + ".so");
    symbols::test::mustRun("cd " + dir.path() + " && rustc --edition 2021 -C debuginfo=" + level +
                           " --crate-type cdylib -L . -l static=part -o " + library + " lib.rs 2>&1");
    Program program(library);
    EXPECT_EQ(withoutTypes(program), expected) << level;
  }
}

}  // namespace
}  // namespace cacheline::types
