// What tables of calibrations say, and how they are written, read and kept.
#include "calibration/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "calibration/calibration_json.h"
#include "calibration/kept.h"

namespace cacheline::calibration {
namespace {

/// Time shares 0.9, 0.5 and 0.1; excess shares 0.9, 0.8 and 0.4.
std::vector<SweepPoint> threePoints() {
  return {{10, 19, 100, 20.5, 0.02}, {100, 120, 200, std::nullopt, 0.05}, {900, 960, 1000, 1, 0.1}};
}

Calibration made() {
  Calibration calibration{"Model (R) 7", "Vendor-6-7-8", {2, 5}, 0.5, "2026-01-02T03:04:05.678Z", {}, 40, 3};
  calibration.classes.fill(threePoints());
  return calibration;
}

void expectRange(const ShareRange& range, double low, double mid, double high) {
  EXPECT_NEAR(range.low, low, 1e-9);
  EXPECT_NEAR(range.mid, mid, 1e-9);
  EXPECT_NEAR(range.high, high, 1e-9);
}

TEST(ExcessOf, IsWithinZeroAndOne) {
  EXPECT_DOUBLE_EQ(excessOf(10, 20, 110), 0.9);
  EXPECT_EQ(excessOf(10, 9, 110), 1) << "noise: the access costs nothing alone";
  EXPECT_EQ(excessOf(10, 20, 15), 0) << "noise: it costs less where it is contended";
  EXPECT_EQ(excessOf(10, 20, 10), 0);
  EXPECT_EQ(excessOf(10, 10, 9), 0);
}

TEST(ExcessShare, IsThatOfThePointAndLinearBetween) {
  const Calibration calibration = made();
  const auto at = [&](double share) { return excessShare(calibration, AccessClass::locked, share); };
  expectRange(at(0.9), 0.88, 0.9, 0.92);
  expectRange(at(0.1), 0.3, 0.4, 0.5);
  expectRange(at(0.7), 0.85 - 0.035, 0.85, 0.85 + 0.035);
  expectRange(at(0.3), 0.6 - 0.075, 0.6, 0.6 + 0.075);
}

TEST(ExcessShare, OutsideTheNearestPointHolds) {
  const Calibration calibration = made();
  const auto at = [&](double share) { return excessShare(calibration, AccessClass::load, share); };
  for (const double share : {0.95, 1.0, 7.0, std::numeric_limits<double>::infinity()})
    expectRange(at(share), 0.88, 0.9, 0.92);
  for (const double share : {0.05, 0.0, -1.0, std::nan("")}) expectRange(at(share), 0.3, 0.4, 0.5);
}

TEST(ExcessShare, OfPlainStoresIsBounds) {
  const Calibration calibration = made();
  expectRange(excessShare(calibration, AccessClass::store, 0.91), 0, 0.45, 0.9);
  expectRange(excessShare(calibration, AccessClass::store, 0.05), 0, 0.4, 0.5);
  expectRange(excessShare(calibration, AccessClass::store, 0.9), 0, 0.9, 0.92);
  expectRange(excessShare(calibration, AccessClass::exchange, 0.9), 0.88, 0.9, 0.92);
}

TEST(ExcessShare, OfPlainReadModifyWritesIsThatOfTheWholeSweep) {
  for (const double share : {0.0, 0.5, 0.9, 1.0, std::nan("")})
    expectRange(excessShare(made(), AccessClass::update, share), 0.3, 0.7, 0.9);
}

TEST(ExcessShare, TakesNoPointForTheGreatestThatDoesNotTellWhatTheAccessCostsAlone) {
  Calibration calibration = made();
  for (std::vector<SweepPoint>& points : calibration.classes) points.push_back({50, 51, 100, {}, 0.02});
  expectRange(excessShare(calibration, AccessClass::update, 0.5), 0.3, (2.1 + 0.98) / 4, 0.9);
  expectRange(excessShare(calibration, AccessClass::store, 0.91), 0, 0.45, 0.9);
  for (std::vector<SweepPoint>& points : calibration.classes) points.back().spread = 0.005;
  expectRange(excessShare(calibration, AccessClass::update, 0.5), 0.3, (2.1 + 0.98) / 4, 0.98);
  calibration.classes.fill({{50, 50, 100, {}, 0}});
  expectRange(excessShare(calibration, AccessClass::update, 0.5), 1, 1, 1);
}

TEST(ExcessShare, TakesAllPartsOfASweepThatGoesUpAndDown) {
  Calibration calibration = made();
  // Time shares 0.2, 0.6, 0.2; excess shares 0.5, 0.9, 1.
  calibration.classes[0] = {{80, 90, 100, {}, 0}, {40, 46, 100, {}, 0}, {80, 80, 100, {}, 0.05}};
  // At 0.4 the way up has 0.7, the way down 0.95 with a spread of 0.025.
  expectRange(excessShare(calibration, AccessClass::load, 0.4), 0.7, 0.825, 0.975);
}

TEST(ExcessShare, OfOnePointAndOfPointsThatAreAlike) {
  Calibration calibration = made();
  calibration.classes[0] = {{10, 20, 110, {}, 0.3}};
  expectRange(excessShare(calibration, AccessClass::load, 0.4), 0.6, 0.9, 1);
  calibration.classes[0] = {{10, 20, 110, {}, 0}, {10, 20, 110, {}, 0}};
  expectRange(excessShare(calibration, AccessClass::load, 100.0 / 110), 0.9, 0.9, 0.9);
  calibration.classes[0] = {{0, 0, 0, {}, 0}};
  expectRange(excessShare(calibration, AccessClass::load, 0.5), 0, 0, 0);
  calibration.classes[0].clear();
  EXPECT_THROW(excessShare(calibration, AccessClass::load, 0.5), Error);
}

TEST(CalibrationJson, ComesBackAsItWas) {
  const std::string json = toJson(made());
  const Calibration back = parse(json);
  EXPECT_EQ(back.cpuModel, "Model (R) 7");
  EXPECT_EQ(back.cpuId, "Vendor-6-7-8");
  EXPECT_EQ(back.cpus, (std::array<uint32_t, 2>{2, 5}));
  EXPECT_EQ(back.seconds, 0.5);
  EXPECT_EQ(back.date, "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(back.slices, 40u);
  EXPECT_EQ(back.discarded, 3u);
  ASSERT_EQ(back.of(AccessClass::exchange).size(), 3u);
  const SweepPoint& second = back.of(AccessClass::exchange)[1];
  EXPECT_EQ(second.workNs, 100);
  EXPECT_EQ(second.aloneNs, 120);
  EXPECT_EQ(second.contendedNs, 200);
  EXPECT_FALSE(second.iterationsPerChange);
  EXPECT_EQ(second.spread, 0.05);
  EXPECT_EQ(back.of(AccessClass::load)[0].iterationsPerChange, 20.5);
  EXPECT_EQ(toJson(back), json);
}

TEST(CalibrationJson, NewerMembersArePassedOver) {
  std::string json = toJson(made());
  json.insert(1, R"("more":{"than":[1,{"this":null}]},)");
  EXPECT_EQ(toJson(parse(json)), toJson(made()));
}

std::string refusalOf(const std::string& json) {
  try {
    parse(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    EXPECT_FALSE(error.nextStep().empty());
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << json.substr(0, 200);
  return {};
}

TEST(CalibrationJson, WhatIsWrongIsNamed) {
  struct Case {
    const char *from, *to, *says;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"calibration/1", "calibration/2", "schema is 'cacheline-calibration/2'"},
           {"\"schema\"", "\"scheme\"", "schema is missing"},
           {"\"Model (R) 7\"", "7", "cpuModel is not a text"},
           {"\"cpuId\"", "\"id\"", "cpuId is missing"},
           {"[2,5]", "[2]", "cpus is not a list of two CPUs"},
           {"[2,5]", "[2,-5]", "cpus is not a list of two CPUs"},
           {"[2,5]", "{}", "cpus is not a list of two CPUs"},
           {"\"seconds\":0.5", "\"seconds\":-0.5", "seconds is -0.5"},
           {"\"seconds\":0.5", "\"seconds\":\"0.5\"", "seconds is not a number"},
           {"\"load\":[", "\"load\":7,\"other\":[", "classes.load is not a list"},
           {"\"exchange\":[", "\"exchange\":[],\"other\":[", "classes.exchange has 0 points"},
           {"\"store\"", "\"stores\"", "classes.store is missing"},
           {"\"update\"", "\"updates\"", "classes.update is missing"},
           {"\"load\":[{", "\"load\":[7,{", "classes.load[0] is not an object"},
           {"\"workNs\":100.0", "\"workNs\":1e300", "classes.load[1].workNs is 1"},
           {"\"workNs\":100.0", "\"workNs\":null", "classes.load[1].workNs is not a number"},
           {"\"aloneNs\":960.0", "\"alone\":960.0", "classes.load[2].aloneNs is missing"},
           {"\"iterationsPerChange\":20.5", "\"iterationsPerChange\":-1",
            "classes.load[0].iterationsPerChange"},
           {"\"spread\":0.02", "\"spread\":1.5", "classes.load[0].spread is 1.5"},
           {"\"slices\":40", "\"slices\":40.5", "slices is not a count"},
           {"\"discarded\":3", "\"discarded\":-3", "discarded is not a count"},
           {"\"discarded\":3}", "\"discarded\":3", "it is not JSON"},
       }) {
    std::string json = toJson(made());
    const size_t at = json.find(each.from);
    ASSERT_NE(at, std::string::npos) << each.from << " in " << json;
    json.replace(at, std::string(each.from).size(), each.to);
    EXPECT_NE(refusalOf(json).find(each.says), std::string::npos) << each.says << ": " << refusalOf(json);
  }
}

TEST(CalibrationJson, OtherTextsAreRefused) {
  for (const char* json : {"", "7", "[]", "null", "{}", "{\"schema\":\"\xff\"}", "{\"schema\":NaN}"})
    refusalOf(json);
  EXPECT_NE(refusalOf(std::string(100'000, '[')).find("it is not JSON"), std::string::npos);
  EXPECT_NE(refusalOf(std::string(kMostJson + 1, ' ')).find("bytes, more than"), std::string::npos);
  Calibration long_ = made();
  long_.cpuModel = std::string(300, 'x');
  EXPECT_NE(refusalOf(toJson(long_)).find("cpuModel has 300 bytes"), std::string::npos);
  Calibration many = made();
  many.classes[1].resize(kMostPoints + 1);
  EXPECT_NE(refusalOf(toJson(many)).find("classes.store has 65 points"), std::string::npos);
}

/// A cache folder of the test's own.
class Kept : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cacheline-kept-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* variable : {"XDG_CACHE_HOME", "HOME"})
      if (const char* value = std::getenv(variable)) before_.emplace_back(variable, value);
    ::setenv("XDG_CACHE_HOME", (folder_ + "/cache").c_str(), 1);
  }
  void TearDown() override {
    for (const char* variable : {"XDG_CACHE_HOME", "HOME"}) ::unsetenv(variable);
    for (const auto& [variable, value] : before_) ::setenv(variable.c_str(), value.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  std::string folder_;
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(Kept, IsFoundByItsModel) {
  EXPECT_FALSE(load("Model (R) 7", "Vendor-6-7-8"));
  const std::string path = keep(made());
  EXPECT_TRUE(path.starts_with(folder_ + "/cache/cacheline-lens/calibrations/Model-R-7-")) << path;
  EXPECT_EQ(path, keptPath("Model (R) 7", "Vendor-6-7-8"));
  const auto found = load("Model (R) 7", "Vendor-6-7-8");
  ASSERT_TRUE(found);
  EXPECT_EQ(toJson(*found), toJson(made()));
  EXPECT_FALSE(load("Model (R) 7", "Vendor-6-7-9")) << "another model with the same name";
  EXPECT_FALSE(load("Model R 7", "Vendor-6-7-8")) << "another one that reads alike";
}

TEST_F(Kept, ANewerOneReplacesIt) {
  keep(made());
  Calibration newer = made();
  newer.discarded = 4;
  const std::string path = keep(newer);
  EXPECT_EQ(load(newer.cpuModel, newer.cpuId)->discarded, 4u);
  const std::filesystem::directory_iterator files(std::filesystem::path(path).parent_path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(Kept, NamesOfModelsAreNoPaths) {
  Calibration calibration = made();
  calibration.cpuModel = "../../\xc3\xa4/" + std::string(200, 'm');
  const std::filesystem::path path = keep(calibration);
  EXPECT_EQ(path.parent_path(), folder_ + "/cache/cacheline-lens/calibrations");
  EXPECT_TRUE(load(calibration.cpuModel, calibration.cpuId));
  EXPECT_NE(keptPath("", "").find("/cpu-"), std::string::npos);
}

TEST_F(Kept, WhatIsDamagedOrOfAnotherCpuIsRefusedByName) {
  const std::string path = keep(made());
  const auto refusal = [&] {
    try {
      load("Model (R) 7", "Vendor-6-7-8");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unreadable);
      EXPECT_TRUE(std::string(error.what()).starts_with(path)) << error.what();
      return std::string(error.what());
    }
    ADD_FAILURE() << "not refused";
    return std::string();
  };
  std::ofstream(path) << "{";
  EXPECT_NE(refusal().find("it is not JSON"), std::string::npos);
  Calibration other = made();
  other.cpuModel = "Other";
  std::ofstream(path) << toJson(other);
  EXPECT_NE(refusal().find("it is of another CPU, Other"), std::string::npos);
}

TEST_F(Kept, WhereNothingCanBeWrittenItSaysWhy) {
  ::setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  EXPECT_THROW(keep(made()), Error);
  std::ofstream(folder_ + "/file") << "";
  ::setenv("XDG_CACHE_HOME", (folder_ + "/file").c_str(), 1);
  try {
    keep(made());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find(folder_ + "/file"), std::string::npos) << error.what();
  }
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", folder_.c_str(), 1);
  EXPECT_TRUE(keep(made()).starts_with(folder_ + "/.cache/cacheline-lens/"));
  ::unsetenv("HOME");
  EXPECT_THROW(keep(made()), Error);
  EXPECT_EQ(keptPath("Model", ""), "");
}

}  // namespace
}  // namespace cacheline::calibration
