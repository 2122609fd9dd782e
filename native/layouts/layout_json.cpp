// Layouts as JSON: field by field the shapes of extension/protocol/layout.ts.
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string_view>

#include "base/utf8.h"
#include "layouts/layout.h"

namespace cacheline::layouts {
namespace {

class JsonLayout {
 public:
  std::string write(const Layout& layout) {
    json_.StartObject();
    text("name", layout.name);
    text("kind", layout.kind);
    number("size", layout.size);
    json_.Key("align");
    layout.align ? json_.Uint64(*layout.align) : json_.Null();
    number("lineSize", layout.lineSize);
    number("lines", layout.lines);
    json_.Key("members");
    json_.StartArray();
    for (const LayoutMember& member : layout.members) write(member);
    json_.EndArray();
    json_.Key("holes");
    json_.StartArray();
    for (const Hole& hole : layout.holes) {
      json_.StartObject();
      number("offset", hole.offset);
      number("size", hole.size);
      number("bits", hole.bits);
      if (hole.elements) number("elements", *hole.elements);
      json_.EndObject();
    }
    json_.EndArray();
    if (!layout.unplaced.empty()) writeUnplaced(layout.unplaced);
    if (!layout.differsIn.empty()) writeDifferences(layout.differsIn);
    if (layout.missing) writeMissing(*layout.missing);
    if (layout.cutMembers != 0 || layout.cutDepth != 0) writeCuts(layout);
    number("padding", layout.padding);
    text("file", layout.file);
    number("line", layout.line);
    json_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  void writeUnplaced(const std::vector<Unplaced>& unplaced) {
    json_.Key("unplaced");
    json_.StartArray();
    for (const Unplaced& one : unplaced) {
      json_.StartObject();
      number("offset", one.offset);
      number("size", one.size);
      json_.Key("bases");
      json_.StartArray();
      for (const std::string& base : one.bases) string(base);
      json_.EndArray();
      json_.EndObject();
    }
    json_.EndArray();
  }
  void writeDifferences(const std::vector<std::string>& names) {
    json_.Key("differsIn");
    json_.StartArray();
    for (const std::string& name : names) string(name);
    json_.EndArray();
  }
  void writeCuts(const Layout& layout) {
    json_.Key("cutOff");
    json_.StartObject();
    if (layout.cutMembers != 0) number("members", layout.cutMembers);
    if (layout.cutDepth != 0) number("depth", layout.cutDepth);
    json_.EndObject();
  }
  void writeMissing(const symbols::SplitProblem& missing) {
    json_.Key("missing");
    json_.StartObject();
    text("message", missing.what);
    text("nextStep", missing.next);
    json_.EndObject();
  }
  void write(const LayoutMember& member) {
    json_.StartObject();
    text("name", member.name);
    text("type", member.type);
    number("offset", member.offset);
    number("size", member.size);
    json_.Key("bitOffset");
    member.bitSize != 0 ? json_.Uint(member.bitOffset) : json_.Null();
    json_.Key("bitSize");
    member.bitSize != 0 ? json_.Uint(member.bitSize) : json_.Null();
    text("role", roleName(member.role));
    text("variant", member.variant);
    json_.Key("straddles");
    json_.Bool(member.straddles);
    number("depth", member.depth);
    number("line", member.line);
    if (!member.file.empty()) text("file", member.file);
    if (member.alignment != 0) number("align", member.alignment);
    if (member.incomplete) flag("incomplete");
    if (member.elements) number("elements", *member.elements);
    if (!member.niche.empty()) text("niche", member.niche);
    json_.EndObject();
  }
  void flag(const char* name) {
    json_.Key(name);
    json_.Bool(true);
  }
  void text(const char* name, std::string_view value) {
    json_.Key(name);
    string(value);
  }
  void string(std::string_view value) {
    const std::string valid = validUtf8(value);
    json_.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
  }
  void number(const char* name, uint64_t value) {
    json_.Key(name);
    json_.Uint64(value);
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> json_{buffer_};
};

}  // namespace

const char* roleName(types::Member::Role role) {
  switch (role) {
    case types::Member::Role::field:
      return "field";
    case types::Member::Role::base:
      return "base";
    case types::Member::Role::virtualBase:
      return "virtual base";
    case types::Member::Role::vtablePointer:
      return "vtable pointer";
    case types::Member::Role::discriminant:
      break;
  }
  return "discriminant";
}

std::string layoutJson(const Layout& layout) {
  return JsonLayout().write(layout);
}

}  // namespace cacheline::layouts
