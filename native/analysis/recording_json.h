// The JSON of what a recording says of itself and of what it could not see: in reports and in advice.
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

  /// What the recording says of itself; null: nothing that can be read.
  void recording(const std::string& metaJson) {
    if (metaJson.empty())
      null("recording");
    else
      raw("recording", metaJson);
  }
};

}  // namespace cacheline::analysis
