// Parameters of the analyze call, and the choice of the analysis.
#include "addon/analyze_call.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <thread>
#include <utility>

#include "profile/profile.h"

namespace cacheline::addon {

namespace fs = std::filesystem;

namespace {

analysis::Coalesce coalesceOf(const Arguments& arguments) {
  analysis::Coalesce coalesce;
  const std::vector<std::string> keys = arguments.texts("coalesce");
  if (keys.empty()) return coalesce;
  coalesce.iaddr = false;
  for (const std::string& key : keys) {
    if (key == "tid")
      coalesce.tid = true;
    else if (key == "pid")
      coalesce.pid = true;
    else if (key == "iaddr")
      coalesce.iaddr = true;
    else if (key == "dso")
      coalesce.dso = true;
    else
      throw arguments.wrongValue("coalesce", "of tid, pid, iaddr and dso");
  }
  return coalesce;
}

std::optional<sharing::Display> displayOf(const Arguments& arguments) {
  const std::string name = arguments.text("display");
  if (name.empty()) return std::nullopt;
  for (const sharing::Display display :
       {sharing::Display::total, sharing::Display::local, sharing::Display::remote, sharing::Display::peer})
    if (name == sharing::displayName(display)) return display;
  throw arguments.wrongValue("display", "tot, lcl, rmt or peer");
}

analysis::Filter filterOf(const Arguments& arguments) {
  analysis::Filter filter;
  const std::string mode = arguments.text("mode");
  if (mode == "user")
    filter.mode = analysis::Filter::Mode::user;
  else if (mode == "kernel")
    filter.mode = analysis::Filter::Mode::kernel;
  else if (!mode.empty())
    throw arguments.wrongValue("mode", "user or kernel");
  if (const auto window = arguments.object("window")) {
    filter.from = window->number("from", filter.from);
    filter.to = window->number("to", filter.to);
  }
  filter.pids = arguments.numbers("pids");
  filter.tids = arguments.numbers("tids");
  filter.cpus = arguments.numbers("cpus");
  return filter;
}

/// By default one a CPU: with more than eight, the one that hands out the work cannot keep up.
unsigned threadsOf(const Arguments& arguments) {
  constexpr double kMost = 8;
  const double cpus = std::max(std::thread::hardware_concurrency(), 2u);
  return static_cast<unsigned>(std::clamp(arguments.number("threads", cpus), 1.0, kMost));
}

std::optional<c2c::TableOptions> tableOptions(const Arguments& arguments) {
  const auto asked = arguments.object("tables");
  if (!asked) return std::nullopt;
  c2c::TableOptions options;
  const double width = asked->number("width", options.width), nodeInfo = asked->number("nodeInfo", 0);
  if (!(width >= c2c::kNarrowestTables)) throw asked->wrongValue("width", "40 or more columns");
  if (nodeInfo != 0 && nodeInfo != 1 && nodeInfo != 2) throw asked->wrongValue("nodeInfo", "0, 1 or 2");
  // No text is as wide as that.
  options.width = static_cast<uint32_t>(std::min<double>(width, std::numeric_limits<int32_t>::max()));
  options.coloured = asked->flag("coloured");
  options.folder = asked->text("folder");
  options.nodeInfo = static_cast<uint32_t>(nodeInfo);
  options.fullSymbols = asked->flag("fullSymbols");
  options.source = asked->flag("source");
  options.callers = arguments.flag("callers");
  options.threads = threadsOf(arguments);
  return options;
}

/// Of the recording, which keeps its program under .build-id (extension/session/record/kept-binaries.ts);
/// empty of a bare perf.data.
std::string folderOf(const std::string& recording) {
  std::error_code error;
  const fs::path path = fs::absolute(recording, error);
  if (fs::is_directory(path, error)) return path.string();
  const fs::path folder = path.parent_path();
  return folder.extension() == ".cacheline" ? folder.string() : std::string();
}

}  // namespace

AnalyzeParameters analyzeParameters(const Arguments& arguments) {
  AnalyzeParameters parameters;
  parameters.path = arguments.text("path");
  parameters.filter = arguments.text("filter");
  parameters.tables = tableOptions(arguments);
  sharing::Options& options = parameters.c2c;
  options.showAll = arguments.flag("showAll");
  options.display = displayOf(arguments);
  options.coalesce = coalesceOf(arguments);
  options.doubleLine = arguments.flag("doubleLine");
  options.filter = filterOf(arguments);
  options.callers = arguments.flag("callers");
  options.symbols.symfs = arguments.text("symfs");
  options.symbols.vmlinux = arguments.text("vmlinux");
  options.symbols.debuginfod = arguments.flag("debuginfod");
  if (const std::string kept = folderOf(parameters.path); !kept.empty())
    options.symbols.debugRoots.insert(options.symbols.debugRoots.begin(), kept);
  options.threads = threadsOf(arguments);
  return parameters;
}

analysis::Report analyze(const AnalyzeParameters& parameters, const profile::Progress& progress) {
  return profile::Profile(parameters.path, parameters.c2c, parameters.filter, progress).takeReport();
}

AnalysisTexts textsOf(analysis::Report report, const AnalyzeParameters& parameters, FreedAside& aside) {
  AnalysisTexts texts;
  if (report.source) aside.take(std::move(report.source));
  if (parameters.tables && report.c2c) {
    texts.tables = c2c::tablesText(report, *parameters.tables);
    // The words around the tables speak of the first line, of whether it is the only one, of those that were
    // watched, of objects on several lines, and of contended types that are in no other, by their sizes and
    // fields.
    constexpr size_t kLinesForWords = 2;
    std::vector<analysis::Line> all = std::exchange(report.lines, {});
    for (size_t i = 0; i < all.size(); ++i)
      if (i < kLinesForWords || all[i].confirmation) report.lines.push_back(std::move(all[i]));
    aside.take(std::move(all));
    std::erase_if(report.objects, [](const analysis::ObjectSum& object) { return object.lines <= 1; });
    std::erase_if(report.types, [](const auto& type) { return type.nested || type.contended == 0; });
    for (analysis::TypeHeat& type : report.types) type.layout.members.clear();
  }
  texts.pieces = analysis::reportPieces(report);
  return texts;
}

}  // namespace cacheline::addon
