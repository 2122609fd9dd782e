// What heat counts, as extension/protocol/measure.ts has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/report.h"

namespace cacheline::profile {

enum class Measure : uint8_t { hitm, localHitm, remoteHitm, peer, latency, contended };

/// Empty where there is no measure of that name.
std::optional<Measure> measureOf(std::string_view name);

/// Samples; of `latency` core cycles. 0 where the evidence cannot say.
double amountOf(const analysis::Access& access, Measure measure);
double amountOf(const analysis::Line& line, Measure measure);

}  // namespace cacheline::profile
