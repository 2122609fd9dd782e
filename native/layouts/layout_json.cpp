// Layouts as JSON: field by field the shapes of extension/protocol/layout.ts.
#include "base/json_writer.h"
#include "layouts/layout.h"

namespace cacheline::layouts {

using types::Member;

namespace {

class JsonLayout : JsonWriter {
 public:
  std::string write(const Layout& layout) {
    open();
    field("name", layout.name);
    field("kind", layout.kind);
    field("size", layout.size);
    optional("align", layout.align);
    field("lineSize", layout.lineSize);
    field("lines", layout.lines);
    list("members", layout.members, [this](const LayoutMember& member) { write(member); });
    list("holes", layout.holes, [this](const Hole& hole) {
      open();
      field("offset", hole.offset);
      field("size", hole.size);
      field("bits", hole.bits);
      if (hole.elements) field("elements", *hole.elements);
      close();
    });
    if (!layout.unplaced.empty())
      list("unplaced", layout.unplaced, [this](const Unplaced& one) {
        open();
        field("offset", one.offset);
        field("size", one.size);
        list("bases", one.bases, [this](const std::string& base) { value(base); });
        close();
      });
    if (!layout.differsIn.empty())
      list("differsIn", layout.differsIn, [this](const std::string& name) { value(name); });
    if (layout.missing) {
      open("missing");
      field("message", layout.missing->what);
      field("nextStep", layout.missing->next);
      close();
    }
    if (layout.cutMembers != 0 || layout.cutDepth != 0) {
      open("cutOff");
      if (layout.cutMembers != 0) field("members", layout.cutMembers);
      if (layout.cutDepth != 0) field("depth", layout.cutDepth);
      close();
    }
    field("padding", layout.padding);
    field("file", layout.file);
    field("line", layout.line);
    close();
    return take();
  }

 private:
  void write(const LayoutMember& member) {
    const bool isBits = member.bitSize != 0;
    open();
    field("name", member.name);
    field("type", member.type);
    field("offset", member.offset);
    field("size", member.size);
    optional("bitOffset", isBits ? std::optional<uint64_t>(member.bitOffset) : std::nullopt);
    optional("bitSize", isBits ? std::optional<uint64_t>(member.bitSize) : std::nullopt);
    field("role", roleName(member.role));
    field("variant", member.variant);
    field("straddles", member.straddles);
    field("depth", member.depth);
    field("line", member.line);
    if (!member.file.empty()) field("file", member.file);
    if (member.alignment != 0) field("align", member.alignment);
    if (member.incomplete) field("incomplete", true);
    if (member.elements) field("elements", *member.elements);
    if (!member.niche.empty()) field("niche", member.niche);
    close();
  }
};

}  // namespace

const char* roleName(Member::Role role) {
  switch (role) {
    case Member::Role::field:
      return "field";
    case Member::Role::base:
      return "base";
    case Member::Role::virtualBase:
      return "virtual base";
    case Member::Role::vtablePointer:
      return "vtable pointer";
    case Member::Role::discriminant:
      break;
  }
  return "discriminant";
}

std::string layoutJson(const Layout& layout) {
  return JsonLayout().write(layout);
}

}  // namespace cacheline::layouts
