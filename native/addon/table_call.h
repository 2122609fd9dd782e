// The calls about tables: a recording added up by keys.
#pragma once

#include <napi.h>

namespace cacheline::addon {

/// Parameters as of analyze, with `by` (names of one to three keys) and `bins`; resolves with the pieces of
/// `cacheline-table/1`.
Napi::Value tableCall(const Napi::CallbackInfo& info);
/// Several tables of one analysis. Parameters as of analyze, with `by`: the keys of each table as one text
/// ("type,member") and `lines`; resolves with `report` (its pieces, without lines unless these are asked for)
/// and `tables` (the pieces of each).
Napi::Value sumsCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
