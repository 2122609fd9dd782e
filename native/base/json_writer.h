// Writes JSON field by field. Valid whatever bytes names hold: invalid UTF-8 becomes U+FFFD.
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace cacheline {

class JsonWriter {
 protected:
  void open() { json_.StartObject(); }
  void open(const char* name) {
    key(name);
    json_.StartObject();
  }
  void close() { json_.EndObject(); }
  void key(const char* name) { json_.Key(name); }
  void value(std::string_view text) {
    if (isAscii(text)) {
      json_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
      return;
    }
    const std::string valid = validUtf8(text);
    json_.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
  }
  void value(uint64_t number) { json_.Uint64(number); }
  void field(const char* name, std::string_view text) {
    key(name);
    value(text);
  }
  void field(const char* name, const char* text) { field(name, std::string_view(text)); }
  void field(const char* name, const std::string& text) { field(name, std::string_view(text)); }
  void field(const char* name, uint64_t number) {
    key(name);
    json_.Uint64(number);
  }
  void field(const char* name, uint32_t number) { field(name, uint64_t{number}); }
  void field(const char* name, double number) {
    key(name);
    json_.Double(number);
  }
  void field(const char* name, bool flag) {
    key(name);
    json_.Bool(flag);
  }
  void null(const char* name) {
    key(name);
    json_.Null();
  }
  void nulls(std::initializer_list<const char*> names) {
    for (const char* name : names) null(name);
  }
  void optional(const char* name, const std::optional<uint64_t>& number) {
    if (number)
      field(name, *number);
    else
      null(name);
  }
  void optional(const char* name, const std::optional<std::vector<uint32_t>>& items) {
    if (items)
      numbers(name, *items);
    else
      null(name);
  }
  void address(const char* name, uint64_t number) {
    key(name);
    address(number);
  }
  void address(uint64_t number) {
    std::array<char, 18> text{'0', 'x'};
    const char* const end = std::to_chars(text.data() + 2, text.data() + text.size(), number, 16).ptr;
    value(std::string_view(text.data(), end));
  }
  /// A JSON object that another writer made.
  void raw(const char* name, const std::string& json) {
    key(name);
    json_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  }
  /// The same, of a list.
  void element(const std::string& json) { json_.RawValue(json.data(), json.size(), rapidjson::kObjectType); }
  void nullElement() { json_.Null(); }  ///< of a list
  template <typename List, typename Each>
  void list(const char* name, const List& items, Each each) {
    beginList(name);
    for (const auto& item : items) each(item);
    endList();
  }
  void numbers(const char* name, const std::vector<uint32_t>& items) {
    list(name, items, [&](uint32_t item) { value(uint64_t{item}); });
  }
  void beginList(const char* name) {
    key(name);
    json_.StartArray();
  }
  void beginList() { json_.StartArray(); }  ///< an element of a list
  void endList() { json_.EndArray(); }
  /// Bytes written since the last take().
  size_t written() const { return buffer_.GetSize(); }
  /// What was written since the last take(); writing goes on behind it.
  std::string take() {
    std::string text(buffer_.GetString(), buffer_.GetSize());
    buffer_.Clear();
    return text;
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> json_{buffer_};
};

}  // namespace cacheline
