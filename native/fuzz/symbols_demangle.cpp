// Any text as a mangled name.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "symbols/module.h"

using namespace cacheline::symbols;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  namespace fs = std::filesystem;
  const std::string corpus = *argc > 1 ? (*argv)[*argc - 1] : "";
  if (corpus.empty() || corpus[0] == '-' || !fs::is_directory(corpus) || !fs::is_empty(corpus)) return 0;
  size_t made = 0;
  for (const char* name :
       {"_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner15try_allocate_inCsduwmD7cSIQq_5gimli",
        "_RNvXs_C1aNtB4_1TNtC1b2Tr1f", "_RNCNvC1a1fs_0.llvm.123", "_RNvC1au8gdel_5qa",
        "_RINvC1a1fWmRm1_m9_L_E", "_RINvC1a1fFG0_QL1_Ahj4_RL0_SsEuDNtC1a2TrEL_FUKCPaOdvEzE",
        "_RINvC1a1fDINtC1b2FnThEEp6OutputuNtC1b4SendEL_TEThEE", "_RINvC1a1fKj8_Kb1_Kan5_Kc27_KpKRe6122_E",
        "_RINvC1a1fKVNtC1a1PS1xl1_1yTl2_l3_EEKVNtC1a1PTl1_RAl1_l2_EEKVNtC1a1PUE",
        "_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE",
        "_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZZN1AC1EvENKUlvE_clEv"})
    std::ofstream(corpus + "/" + std::to_string(made++)) << name;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string name(reinterpret_cast<const char*>(data), size);
  const std::string readable = demangle(name);
  if (readable.empty() != name.empty() || (readable != name && readable.size() > 1 << 20)) std::abort();
  return 0;
}
