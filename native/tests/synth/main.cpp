// cacheline_synth: seeded recordings of memory accesses, as `perf c2c record` writes them on machines we do
// not have.
//
// The list (--list) has one line for each sample, in the order of the file, with tabs between: time in ns,
// event (index), pid, tid, cpu, cpumode, and in hex instruction pointer, data address, data source; latency
// in cycles; in hex the physical address; the line's address space, and in hex its first byte there (a file
// offset in "file" spaces); in hex the two callers, innermost first, which --callchains records.
#include <cstdio>

#include "base/error.h"
#include "binary.h"
#include "options.h"
#include "write.h"

using namespace cacheline;
using namespace cacheline::synth;

int main(int argc, char** argv) {
  try {
    const Options options = parseOptions(argc, argv);
    writeRecording(options, readBinary(options.binary, options.codes));
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "cacheline_synth: %s\n%s", error.what(),
                 error.kind() == ErrorKind::usage ? kUsage : "");
    return error.kind() == ErrorKind::usage ? 2 : 1;
  }
}
