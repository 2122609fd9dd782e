// Names of the files of runtimes, as their own builds and distributions call them.
#include "analysis/code_runtime.h"

namespace cacheline::analysis {

namespace {

struct RuntimeFile {
  std::string_view name;
  bool prefix;  ///< a version follows: libnode.so.108, luajit-2.1.0-beta3, libpypy3.9-c.so
  const char* runtime;
};

constexpr RuntimeFile kRuntimeFiles[] = {
    {"libjvm.so", false, "Java"},     {"node", false, "Node.js"},     {"libnode.so", true, "Node.js"},
    {"libcoreclr.so", false, ".NET"}, {"luajit", true, "LuaJIT"},     {"libluajit-5.1.so", true, "LuaJIT"},
    {"libpypy", true, "PyPy"},        {"libjulia.so", true, "Julia"}, {"beam.smp", false, "Erlang"},
};

}  // namespace

const char* codeRuntime(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const RuntimeFile& file : kRuntimeFiles)
    if (file.prefix ? name.starts_with(file.name) : name == file.name) return file.runtime;
  return nullptr;
}

}  // namespace cacheline::analysis
