// Mappings of the kernel's code and its modules, of a made-up machine.
#include "record/kernel_map.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "../perfdata/test_support.h"

namespace cacheline::record {
namespace {

using Mapped = std::tuple<uint64_t, uint64_t, uint64_t, std::string>;  // address, length, page offset, name

std::vector<Mapped> mappingsOf(const std::vector<uint8_t>& records, size_t trailerBytes) {
  std::vector<Mapped> mappings;
  for (size_t at = 0; at < records.size();) {
    perf_event_header header;
    std::memcpy(&header, records.data() + at, sizeof header);
    EXPECT_EQ(header.type, static_cast<uint32_t>(PERF_RECORD_MMAP));
    EXPECT_EQ(header.misc, PERF_RECORD_MISC_KERNEL);
    EXPECT_EQ(header.size % 8, 0);
    uint64_t place[3];
    std::memcpy(place, records.data() + at + sizeof header + 8, sizeof place);
    constexpr size_t kName = sizeof header + 8 + sizeof place;
    const std::string name(reinterpret_cast<const char*>(records.data()) + at + kName);
    EXPECT_LE(kName + name.size() + 1 + trailerBytes, header.size);
    mappings.emplace_back(place[0], place[1], place[2], name);
    at += header.size;
  }
  return mappings;
}

struct Root {
  Root() {
    for (const char* path : {"/proc", "/lib/modules/6.1.0-test", "/sys/module/my_fs/notes"})
      std::filesystem::create_directories(folder / "" + path);
    std::ofstream(folder / "lib/modules/6.1.0-test/modules.dep")
        << "kernel/fs/my-fs.ko.xz: kernel/lib/crc16.ko.xz\nkernel/lib/crc16.ko.xz:\n";
    std::ofstream notes(folder / "sys/module/my_fs/notes/.note.gnu.build-id", std::ios::binary);
    notes << std::string("\4\0\0\0\24\0\0\0\3\0\0\0GNU\0", 16) << std::string(20, '\xab');
  }
  void write(const std::string& text, const std::string& module) const {
    std::ofstream(folder / "proc/kallsyms") << text << " T _text\n"
                                            << text << " T _stext\nffffffff81e01d32 T _etext\n";
    std::ofstream(folder / "proc/modules") << "my_fs 16384 1 - Live " << module
                                           << "\nbuilt_here 8192 0 - Live 0xffffffffc0500000 (OE)\nbroken\n";
  }
  perfdata::testing::TempFolder folder;
};

TEST(KernelMap, NamesTheKernelAndItsModules) {
  const Root root;
  root.write("ffffffff81000000", "0xffffffffc0400000");
  const KernelMap map = kernelMap(16, "6.1.0-test", root.folder / "");
  EXPECT_EQ(
      mappingsOf(map.records, 16),
      (std::vector<Mapped>{{0xffffffff81000000, 0xe01d32, 0xffffffff81000000, "[kernel.kallsyms]_text"},
                           {0xffffffffc0400000, 16384, 0, "/lib/modules/6.1.0-test/kernel/fs/my-fs.ko.xz"},
                           {0xffffffffc0500000, 8192, 0, "[built_here]"}}));
  ASSERT_EQ(map.buildIds.size(), 1u);
  EXPECT_EQ(map.buildIds[0].path, "/lib/modules/6.1.0-test/kernel/fs/my-fs.ko.xz");
  EXPECT_EQ(map.buildIds[0].buildId, "abababababababababababababababababababab");
  EXPECT_TRUE(map.buildIds[0].kernel);
}

TEST(KernelMap, HiddenAddressesAreNotRecorded) {
  const Root root;
  root.write("0000000000000000", "0x0000000000000000");
  EXPECT_TRUE(kernelMap(0, "6.1.0-test", root.folder / "").records.empty());
  root.write("ffffffff81000000", "0x0000000000000000");
  EXPECT_EQ(mappingsOf(kernelMap(0, "6.1.0-test", root.folder / "").records, 0).size(), 2u);
}

}  // namespace
}  // namespace cacheline::record
