// Writing of cacheline-workset/1.
#include <algorithm>

#include "base/json_writer.h"
#include "workset/workset.h"

namespace cacheline::workset {
namespace {

class SurveyWriter : JsonWriter {
 public:
  std::string write(const analysis::Report& report, const Survey& survey) {
    open();
    field("schema", "cacheline-workset/1");
    list("evidence", report.evidence, [&](const std::string& each) { value(each); });
    field("collector", report.collector);
    field("lineSize", report.lineSize);
    field("samples", report.samples);
    field("attributed", report.attributed);
    optional("filtered", report.filtered);
    field("seconds", report.seconds);
    field("parts", kParts);
    field("partSeconds", survey.partSeconds);
    open("all");
    workingSet(survey.all);
    close();
    limited("threads", survey.threads, [&](const ThreadSet& thread) {
      open();
      field("pid", thread.pid);
      field("tid", thread.tid);
      field("comm", thread.comm);
      workingSet(thread.set);
      close();
    });
    limited("types", survey.types, [&](const DataSet& data) { dataSet(data); });
    limited("allocations", survey.sites, [&](const DataSet& data) { dataSet(data); });
    list("caches", survey.caches, [&](const analysis::DataCache& cache) {
      open();
      field("level", cache.level);
      field("type", cache.type);
      field("bytes", cache.bytes);
      optional("ways", cache.ways);
      numbers("cpus", cache.cpus);
      close();
    });
    list("missClasses", survey.classes, [&](const MissClass& each) { missClass(each); });
    list("warnings", report.warnings, [&](const std::string& warning) { value(warning); });
    close();
    return take();
  }

 private:
  template <typename List, typename Each>
  void limited(const char* name, const List& items, Each each) {
    beginList(name);
    std::for_each(items.begin(), items.begin() + static_cast<ptrdiff_t>(std::min(items.size(), kMostListed)),
                  each);
    endList();
  }

  void share(const char* name, const std::optional<double>& number) {
    if (number)
      field(name, *number);
    else
      null(name);
  }

  void sentence(const char* name, const std::string& text) {
    if (text.empty())
      null(name);
    else
      field(name, text);
  }

  void richness(const Richness& set) {
    field("samples", set.samples);
    field("lines", set.lines);
    field("once", set.once);
    field("twice", set.twice);
    share("coverage", set.coverage);
    optional("atLeast", set.atLeast);
    optional("estimate", set.estimate);
    sentence("reason", set.reason);
  }

  void workingSet(const WorkingSet& set) {
    richness(set.whole);
    optional("atATime", set.atATime);
  }

  void dataSet(const DataSet& data) {
    open();
    field("name", data.name);
    richness(data.whole);
    optional("atMost", data.atMost);
    sentence("atMostReason", data.atMostReason);
    optional("peakBytes", data.peakBytes);
    close();
  }

  void missClass(const MissClass& each) {
    open();
    field("class", missKindName(each.kind));
    if (each.level)
      field("level", *each.level);
    else
      null("level");
    field("knowledge", knowledgeName(each.knowledge));
    share("share", each.share);
    numbers("threads", each.threads);
    optional("lines", each.lines);
    optional("cacheLines", each.cacheLines);
    if (each.sets) {
      open("sets");
      field("count", each.sets->sets);
      field("ways", each.sets->ways);
      field("oversubscribed", each.sets->oversubscribed);
      field("mostLines", each.sets->mostLines);
      field("elsewhere", each.sets->elsewhere);
      close();
    } else {
      null("sets");
    }
    sentence("reason", each.reason);
    close();
  }
};

}  // namespace

std::string surveyJson(const analysis::Report& report, const Survey& survey) {
  return SurveyWriter().write(report, survey);
}

}  // namespace cacheline::workset
