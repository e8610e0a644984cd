// What torch.profiler's export_memory_timeline() writes: sizes by category over time (.json), single changes
// (.raw.json.gz), and a picture (.html), which holds no numbers.
#include <algorithm>

#include "fmt/format.h"
#include "import/reader.h"
#include "import/readers/memory_timeline/timeline.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using memory_timeline::Form;

bool is_page(std::string_view head) {
  return head.substr(0, 4096).find(memory_timeline::kPageTitle) != head.npos;
}

bool claims(const Head& head) {
  return is_page(head.bytes) || memory_timeline::form_of(head.bytes) != Form::none;
}

template <typename... Places>
Error refusal(const char* msgid, const std::string& path, const Places&... places) {
  return {ExitCode::bad_input, fmt::format(fmt::runtime(tr(msgid)), fmt::arg("path", path), places...)};
}

// Hands out the head again in front of the rest.
class Rejoined : public ByteStream {
 public:
  Rejoined(std::string_view head, ByteStream& rest) : head_(head), rest_(rest) {}
  std::size_t read(char* out, std::size_t size) override {
    if (head_.empty()) return rest_.read(out, size);
    const std::size_t count = head_.copy(out, size);
    head_.remove_prefix(count);
    return count;
  }
  std::int64_t consumed() const override { return rest_.consumed(); }
  std::int64_t file_size() const override { return rest_.file_size(); }

 private:
  std::string_view head_;
  ByteStream& rest_;
};

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  constexpr std::size_t kHead = 256 * 1024;
  std::string head(kHead, '\0');
  std::size_t size = 0;
  while (size < kHead) {
    const std::size_t got = stream.read(head.data() + size, kHead - size);
    if (got == 0) break;
    size += got;
  }
  head.resize(size);
  if (is_page(head)) {
    return refusal(N_("{path} is a memory timeline drawn as a picture, which holds no numbers; export it again with "
                      "export_memory_timeline(\"timeline.raw.json.gz\") and give vramscope that file."),
                   path);
  }
  Rejoined whole(head, stream);
  memory_timeline::NumberLists lists(whole, progress);
  memory_timeline::Timeline timeline(lists);
  timeline.read(memory_timeline::form_of(head));
  if (timeline.kept() == 0) {
    return refusal(N_("{path} is a memory timeline without a single point (it is empty or damaged at byte {offset}); "
                      "record with profile_memory, record_shapes and with_stack, and export it again."),
                   path, fmt::arg("offset", lists.offset()));
  }
  Source source;
  source.path = path;
  source.format = "memory_timeline";
  timeline.give(source);
  if (!stream.damage().empty()) source.trouble.push_back({stream.damage(), 1, stream.damage_offset()});
  std::sort(source.trouble.begin(), source.trouble.end(),
            [](const Trouble& a, const Trouble& b) { return a.name < b.name; });
  source.trace.strings.seal();
  source.compressed = stream.is_compressed();
  source.bytes = lists.offset();
  return source;
}

}  // namespace

Reader reader_memory_timeline() {
  return {"memory_timeline", N_("Memory timeline exported by the PyTorch Profiler: JSON, plain or compressed"), 80,
          claims, read};
}

}  // namespace vramscope
