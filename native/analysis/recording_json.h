// The JSON that reports and advice have in common: what a recording says of itself, what it could not see,
// and bounds.
#pragma once

#include <optional>

#include "analysis/report.h"
#include "base/json_writer.h"

namespace cacheline::analysis {

class RecordingJson : protected JsonWriter {
 protected:
  void blind(const std::optional<Blind>& of) {
    if (!of) return null("blind");
    open("blind");
    field("share", of->share);
    list("reasons", of->reasons, [&](const BlindReason& item) {
      open();
      field("reason", unseenReasonName(item.reason));
      field("what", item.what);
      field("share", item.share);
      close();
    });
    close();
  }

  void falseShare(const std::optional<FalseShare>& share) {
    if (!share) return null("falseShare");
    open("falseShare");
    number("value", share->value);
    field("low", share->low);
    field("high", share->high);
    close();
  }

  void number(const char* name, const std::optional<double>& value) {
    if (value)
      field(name, *value);
    else
      null(name);
  }

  /// What the recording says of itself; null: nothing that can be read.
  void recording(const std::string& metaJson) {
    if (metaJson.empty())
      null("recording");
    else
      raw("recording", metaJson);
  }
};

}  // namespace cacheline::analysis
