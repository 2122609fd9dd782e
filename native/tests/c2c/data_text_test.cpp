// What the tables call data.
#include "c2c/data_text.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <fstream>
#include <sstream>

namespace cacheline::c2c::test {
namespace {

using analysis::DataName;

std::string textOf(const DataName& data) {
  std::string text;
  appendDataText(text, data, 0x1000);
  return text;
}

/// A name of the cases that JavaScript's texts are held to, too: what is absent or null is not known.
DataName nameOf(const rapidjson::Value& json) {
  const auto has = [&](const char* key) { return json.HasMember(key) && !json[key].IsNull(); };
  const auto text = [&](const char* key) { return has(key) ? json[key].GetString() : std::string(); };
  const auto number = [&](const char* key) {
    return has(key) ? std::optional(json[key].GetUint64()) : std::nullopt;
  };
  DataName data;
  data.object = text("object");
  data.offset = json["offset"].GetUint64();
  for (const analysis::How how : {analysis::How::global, analysis::How::stack, analysis::How::code,
                                  analysis::How::allocation, analysis::How::unknown})
    if (text("how") == analysis::howName(how)) data.how = how;
  data.type = text("type");
  data.field = text("field");
  if (has("base")) data.base = std::stoull(text("base"), nullptr, 16);
  data.fieldOffset = number("fieldOffset");
  data.index = number("index");
  if (has("allocation")) {
    data.allocation.emplace();
    data.allocation->size = json["allocation"]["size"].GetUint64();
    data.allocation->function = json["allocation"]["function"].GetString();
  }
  if (has("stackOwner")) {
    const rapidjson::Value& owner = json["stackOwner"];
    data.stackOwner = {owner["pid"].GetUint(), owner["tid"].GetUint(), owner["comm"].GetString()};
  }
  return data;
}

TEST(DataText, IsTheSameAsJavaScripts) {
  std::ifstream file(CACHELINE_FIXTURES "/data-names.json");
  std::stringstream bytes;
  bytes << file.rdbuf();
  rapidjson::Document cases;
  ASSERT_FALSE(cases.Parse(bytes.str().c_str()).HasParseError());
  ASSERT_GT(cases.Size(), 10u);
  for (const rapidjson::Value& each : cases.GetArray()) {
    SCOPED_TRACE(each["what"].GetString());
    analysis::Line line;
    line.address = 0x404040;
    for (const rapidjson::Value& row : each["rows"].GetArray()) {
      analysis::Access& access = line.accesses.emplace_back();
      access.offset = 8 * static_cast<uint32_t>(line.accesses.size() - 1);
      access.memory.emplace();
      access.data = nameOf(row["data"]);
      std::string text;
      appendDataText(text, access.data, line.address + access.offset);
      EXPECT_EQ(text, row["text"].GetString());
      if (row.HasMember("object")) {
        EXPECT_EQ(analysis::objectName(access.data), row["object"].GetString());
      }
    }
    if (each.HasMember("line")) {
      EXPECT_EQ(lineDataText(line, Displayed(analysis::Report())), each["line"].GetString());
    }
  }
}

TEST(DataText, MembersOfUnnamedMemoryAreNamedByType) {
  DataName data;
  data.type = "rq";
  data.field = "lock";
  data.fieldOffset = 16;
  for (const char* memory : {"[heap]", "[stack]", "anonymous 0x1000", analysis::kKernelMemory}) {
    data.object = memory;
    EXPECT_EQ(textOf(data), "rq.lock") << memory;
  }
  data.object = "runqueues";
  EXPECT_EQ(textOf(data), "runqueues.lock");
}

TEST(DataText, AMemberOfAnElementThatNobodyKnowsIsAMember) {
  DataName data;
  data.object = "[heap]";
  data.type = "verb_stats";
  data.field = "verb[?].hits";
  EXPECT_EQ(textOf(data), "verb_stats.verb[?].hits");
  data.field.clear();
  EXPECT_EQ(textOf(data), "verb_stats+0") << "nothing is known of the member";
}

TEST(DataText, ObjectsInMappedFilesAreNamedByType) {
  DataName data;
  data.object = "data.mdb";
  data.how = analysis::How::code;
  data.type = "Page";
  data.field = "flags";
  EXPECT_EQ(textOf(data), "Page.flags");
}

TEST(DataText, ManyElementsAreRanges) {
  analysis::Line line;
  for (uint64_t i = 0; i < 4; ++i)
    for (const char* member : {"hits", "misses"}) {
      analysis::Access& access = line.accesses.emplace_back();
      access.memory.emplace();
      access.data.object = "[heap]";
      access.data.type = "Shards";
      access.data.field = "slots[" + std::to_string(i) + "]." + member;
      access.data.fieldOffset = i;
      access.data.index = i;
    }
  EXPECT_EQ(lineDataText(line, Displayed(analysis::Report())),
            "Shards.slots[0..3].hits, Shards.slots[0..3].misses");
}

}  // namespace
}  // namespace cacheline::c2c::test
