// Writes and reads calibrations. What is read may come with a recording from anywhere.
#include "calibration/calibration_json.h"

#include <rapidjson/error/en.h>

#include <cmath>

#include "base/error.h"
#include "base/json_writer.h"

namespace cacheline::calibration {
namespace {

constexpr const char* kSchema = "cacheline-calibration/1";
constexpr size_t kMostText = 256;     ///< bytes of a model's name
constexpr double kMostSeconds = 1e6;  ///< of a measurement
constexpr double kMostIterations = 1e15;

class CalibrationWriter : JsonWriter {
 public:
  std::string write(const Calibration& calibration) {
    open();
    field("schema", kSchema);
    field("cpuModel", calibration.cpuModel);
    field("cpuId", calibration.cpuId);
    numbers("cpus", {calibration.cpus.begin(), calibration.cpus.end()});
    field("seconds", calibration.seconds);
    field("date", calibration.date);
    open("classes");
    for (size_t i = 0; i < kAccessClasses; i++)
      list(kAccessClassNames[i], calibration.classes[i], [&](const SweepPoint& item) { point(item); });
    close();
    field("slices", calibration.slices);
    field("discarded", calibration.discarded);
    close();
    return take();
  }

 private:
  void point(const SweepPoint& item) {
    open();
    field("workNs", item.workNs);
    field("aloneNs", item.aloneNs);
    field("contendedNs", item.contendedNs);
    if (item.iterationsPerChange)
      field("iterationsPerChange", *item.iterationsPerChange);
    else
      null("iterationsPerChange");
    field("spread", item.spread);
    close();
  }
};

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::unreadable, "it is not a calibration: " + what,
              "Measure again: cacheline doctor --calibrate");
}

/// A member of an object; `where` is the object's own name with a point behind it, or empty.
const rapidjson::Value& memberOf(const rapidjson::Value& object, const char* name, const std::string& where) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd()) refuse(where + name + " is missing");
  return member->value;
}

std::string textOf(const rapidjson::Value& object, const char* name) {
  const rapidjson::Value& value = memberOf(object, name, "");
  if (!value.IsString()) refuse(std::string(name) + " is not a text");
  if (value.GetStringLength() > kMostText)
    refuse(std::string(name) + " has " + std::to_string(value.GetStringLength()) + " bytes, more than " +
           std::to_string(kMostText));
  return {value.GetString(), value.GetStringLength()};
}

double numberOf(const rapidjson::Value& object, const char* name, const std::string& where, double most) {
  const rapidjson::Value& value = memberOf(object, name, where);
  if (!value.IsNumber()) refuse(where + name + " is not a number");
  const double number = value.GetDouble();
  if (!std::isfinite(number) || number < 0 || number > most)
    refuse(where + name + " is " + std::to_string(number) + ", not from 0 to " + std::to_string(most));
  return number;
}

uint64_t countOf(const rapidjson::Value& object, const char* name) {
  const rapidjson::Value& value = memberOf(object, name, "");
  if (!value.IsUint64()) refuse(std::string(name) + " is not a count");
  return value.GetUint64();
}

SweepPoint pointOf(const rapidjson::Value& item, const std::string& where) {
  if (!item.IsObject()) refuse(where + " is not an object");
  const std::string inside = where + ".";
  SweepPoint point;
  point.workNs = numberOf(item, "workNs", inside, kMostNs);
  point.aloneNs = numberOf(item, "aloneNs", inside, kMostNs);
  point.contendedNs = numberOf(item, "contendedNs", inside, kMostNs);
  if (!memberOf(item, "iterationsPerChange", inside).IsNull())
    point.iterationsPerChange = numberOf(item, "iterationsPerChange", inside, kMostIterations);
  point.spread = numberOf(item, "spread", inside, 1);
  return point;
}

std::vector<SweepPoint> pointsOf(const rapidjson::Value& classes, const char* name) {
  const rapidjson::Value& list = memberOf(classes, name, "classes.");
  const std::string where = std::string("classes.") + name;
  if (!list.IsArray()) refuse(where + " is not a list");
  if (list.Empty() || list.Size() > kMostPoints)
    refuse(where + " has " + std::to_string(list.Size()) + " points, not from 1 to " +
           std::to_string(kMostPoints));
  std::vector<SweepPoint> points;
  for (rapidjson::SizeType i = 0; i < list.Size(); i++)
    points.push_back(pointOf(list[i], where + "[" + std::to_string(i) + "]"));
  return points;
}

}  // namespace

std::string toJson(const Calibration& calibration) {
  return CalibrationWriter().write(calibration);
}

Calibration parse(std::string_view json) {
  if (json.size() > kMostJson)
    refuse("it has " + std::to_string(json.size()) + " bytes, more than " + std::to_string(kMostJson));
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(json.data(),
                                                                                         json.size());
  if (document.HasParseError())
    refuse("it is not JSON (" + std::string(rapidjson::GetParseError_En(document.GetParseError())) +
           " At byte " + std::to_string(document.GetErrorOffset()) + ")");
  return parse(static_cast<const rapidjson::Value&>(document));
}

Calibration parse(const rapidjson::Value& value) {
  if (!value.IsObject()) refuse("it is not a JSON object");
  if (const std::string schema = textOf(value, "schema"); schema != kSchema)
    refuse("schema is '" + schema + "', not '" + kSchema + "'");
  Calibration calibration;
  calibration.cpuModel = textOf(value, "cpuModel");
  calibration.cpuId = textOf(value, "cpuId");
  const rapidjson::Value& cpus = memberOf(value, "cpus", "");
  if (!cpus.IsArray() || cpus.Size() != 2 || !cpus[0].IsUint() || !cpus[1].IsUint())
    refuse("cpus is not a list of two CPUs");
  calibration.cpus = {cpus[0].GetUint(), cpus[1].GetUint()};
  calibration.seconds = numberOf(value, "seconds", "", kMostSeconds);
  calibration.date = textOf(value, "date");
  const rapidjson::Value& classes = memberOf(value, "classes", "");
  if (!classes.IsObject()) refuse("classes is not an object");
  for (size_t i = 0; i < kAccessClasses; i++)
    calibration.classes[i] = pointsOf(classes, kAccessClassNames[i]);
  calibration.slices = countOf(value, "slices");
  calibration.discarded = countOf(value, "discarded");
  return calibration;
}

}  // namespace cacheline::calibration
