// The command line of cacheline_synth.
#include "options.h"

#include <charconv>
#include <cstring>
#include <span>

#include "base/error.h"

namespace cacheline::synth {

const char* const kUsage =
    "cacheline_synth SCENARIO -o FILE [--seed N] [--samples N] [--lines N] [--codes N] [--places N]\n"
    "    [--variants N] [--cpus N] [--processes N] [--threads N] [--callchains] [--registers] [--even] "
    "[--binary ELF] "
    "[--list FILE] [--allocations FILE]\n"
    "Writes a recording as `perf c2c record` would have made it, the same bytes for the same arguments.\n";

namespace {

uint64_t parseNumber(const std::string& name, const char* text, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end || value < least || value > most) {
    throw Error(ErrorKind::usage, name + " takes a number from " + std::to_string(least) + " to " +
                                      std::to_string(most) + ", not " + text);
  }
  return value;
}

}  // namespace

Options parseOptions(int argc, char** argv) {
  Options options;
  const std::span<char*> arguments(argv + 1, static_cast<size_t>(argc > 1 ? argc - 1 : 0));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = arguments[i];
    if (name == "--callchains" || name == "--even" || name == "--registers") {
      (name == "--even"        ? options.even
       : name == "--registers" ? options.registers
                               : options.callchains) = true;
      continue;
    }
    if (name.empty() || name[0] != '-') {
      if (!options.scenario.empty())
        throw Error(ErrorKind::usage, "one scenario at a time, not also " + name);
      options.scenario = name;
      continue;
    }
    if (i + 1 == arguments.size()) throw Error(ErrorKind::usage, name + " needs a value");
    const char* value = arguments[++i];
    const auto number = [&](uint64_t least, uint64_t most) { return parseNumber(name, value, least, most); };
    if (name == "-o") {
      options.output = value;
    } else if (name == "--binary") {
      options.binary = value;
    } else if (name == "--list") {
      options.list = value;
    } else if (name == "--allocations") {
      options.allocations = value;
    } else if (name == "--seed") {
      options.seed = number(0, UINT64_MAX);
    } else if (name == "--samples") {
      options.samples = number(1, 1'000'000'000);
    } else if (name == "--lines") {
      options.lines = number(1, 10'000'000);
    } else if (name == "--codes") {
      options.codes = number(2, 1'000'000);
    } else if (name == "--places") {
      options.places = number(1, 8);
    } else if (name == "--variants") {
      options.variants = number(1, 1000);
    } else if (name == "--cpus") {
      options.cpus = static_cast<uint32_t>(number(2, 1024));
    } else if (name == "--processes") {
      options.processes = static_cast<uint32_t>(number(1, 64));
    } else if (name == "--threads") {
      options.threads = static_cast<uint32_t>(number(1, 1024));
    } else {
      throw Error(ErrorKind::usage, "there is no option " + name);
    }
  }
  if (options.scenario.empty() || options.output.empty())
    throw Error(ErrorKind::usage, "a scenario and -o FILE are needed");
  return options;
}

}  // namespace cacheline::synth
