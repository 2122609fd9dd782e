// Tables of abbreviations, byte by byte.
#include "symbols/abbreviations.h"

#include <gtest/gtest.h>

#include <string>

namespace cacheline::symbols {
namespace {

constexpr FormSizes kSizes{5, 8, 4};

/// Tag, attributes and the bytes of the strides over them, as text.
std::string textOf(Abbreviations& table, uint64_t code) {
  const Abbreviations::Entry* entry = table.of(code);
  if (entry == nullptr) return "none";
  std::string text = std::to_string(entry->tag) + (entry->children ? " children" : "");
  for (const auto& [name, form, bytes, constant] : table.of(entry->attributes))
    text += " " + std::to_string(name) + (constant != 0 ? "=" + std::to_string(constant) : "");
  for (const auto& [bytes, form, sibling] : table.of(entry->strides))
    text += " +" + std::to_string(bytes) + (form != 0 ? "+form" : "") + (sibling ? "+sibling" : "");
  return text;
}

TEST(Abbreviations, AreFoundByCodesInAnyOrder) {
  const uint8_t bytes[] = {1,
                           DW_TAG_member,
                           0,
                           DW_AT_name,
                           DW_FORM_strp,
                           DW_AT_decl_line,
                           DW_FORM_data2,
                           0,
                           0,  //
                           0x85,
                           0x01,
                           DW_TAG_typedef,
                           0,
                           DW_AT_name,
                           DW_FORM_string,
                           DW_AT_type,
                           DW_FORM_ref4,
                           0,
                           0,  //
                           2,
                           DW_TAG_union_type,
                           1,
                           DW_AT_sibling,
                           DW_FORM_ref4,
                           DW_AT_byte_size,
                           DW_FORM_data1,
                           0,
                           0,  //
                           3,
                           DW_TAG_array_type,
                           0,
                           DW_AT_byte_size,
                           DW_FORM_implicit_const,
                           0xc0,
                           0x00,
                           0,
                           0,
                           0};
  for (const bool forwards : {true, false}) {
    Abbreviations table(bytes, kSizes);
    if (!forwards) {
      EXPECT_EQ(textOf(table, 3), "1 11=64 +0");
    }
    EXPECT_EQ(textOf(table, 1), "13 3 59 +6");
    EXPECT_EQ(textOf(table, 2), "23 children 1 11 +0+form+sibling +1");
    EXPECT_EQ(textOf(table, 3), "1 11=64 +0");
    EXPECT_EQ(textOf(table, 0x85), "22 3 73 +0+form +4");
    EXPECT_EQ(textOf(table, 4), "none");
    EXPECT_EQ(textOf(table, 1), "13 3 59 +6");
  }
}

TEST(Abbreviations, EndWithTheSection) {
  const uint8_t bytes[] = {1, DW_TAG_member, 0, DW_AT_name, DW_FORM_strp, 0,         0,
                           2, DW_TAG_member, 0, DW_AT_name, DW_FORM_strp, DW_AT_type};
  for (size_t size = 0; size <= sizeof bytes; size++) {
    Abbreviations table(Bytes(bytes, size), kSizes);
    EXPECT_EQ(textOf(table, 2), "none") << size;
    EXPECT_EQ(textOf(table, 2), "none") << size;
    EXPECT_EQ(textOf(table, 1), size < 7 ? "none" : "13 3 +4") << size;
  }
}

TEST(Abbreviations, WithoutATagAreNone) {
  const uint8_t bytes[] = {1, 0, 0, DW_AT_name, DW_FORM_strp, 0, 0, 2, DW_TAG_member, 0, 0, 0, 0};
  Abbreviations table(bytes, kSizes);
  EXPECT_EQ(textOf(table, 1), "none");
  EXPECT_EQ(textOf(table, 2), "13");
}

}  // namespace
}  // namespace cacheline::symbols
