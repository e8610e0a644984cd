#include "import/reader.h"

#include <algorithm>

#include "fmt/format.h"
#include "import/foreign.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

// Gives the head back to the reader in front of what follows.
class RewoundStream : public ByteStream {
 public:
  RewoundStream(std::string head, ByteStream& rest) : head_(std::move(head)), rest_(rest) {}
  std::size_t read(char* out, std::size_t size) override {
    if (taken_ == head_.size()) return rest_.read(out, size);
    const std::size_t count = head_.copy(out, size, taken_);
    taken_ += count;
    return count;
  }
  std::int64_t consumed() const override { return rest_.consumed(); }
  std::int64_t file_size() const override { return rest_.file_size(); }
  bool is_compressed() const override { return rest_.is_compressed(); }
  std::string damage() const override { return rest_.damage(); }
  std::int64_t damage_offset() const override { return rest_.damage_offset(); }

 private:
  std::string head_;
  ByteStream& rest_;
  std::size_t taken_ = 0;
};

Error unknown(const std::string& path, const Head& head, const ByteStream& stream) {
  const char* const wide = wide_encoding(head.bytes);
  const auto sentence = [&](const char* msgid) {
    return Error{ExitCode::bad_input, fmt::format(fmt::runtime(tr(msgid)), fmt::arg("path", path),
                                                  fmt::arg("offset", stream.damage_offset()),
                                                  fmt::arg("encoding", wide != nullptr ? wide : ""))};
  };
  if (head.bytes.empty() && !stream.damage().empty()) {
    return sentence(
        N_("{path} is compressed and damaged at byte {offset}, before anything could be read; copy or "
           "export it again."));
  }
  if (head.bytes.empty()) return sentence(N_("{path} is empty; export or copy it again."));
  if (wide != nullptr && stream.is_compressed()) {
    return sentence(
        N_("{path} is JSON in {encoding}, and JSON is read in UTF-8 alone; decompress it and convert it with `iconv -f "
           "{encoding} -t UTF-8`."));
  }
  if (wide != nullptr) {
    return sentence(N_(
        "{path} is JSON in {encoding}, and JSON is read in UTF-8 alone; convert it with `iconv -f {encoding} -t UTF-8 "
        "{path} > utf8.json`."));
  }
  if (const char* known = recognise_foreign(head.bytes); known != nullptr) return sentence(known);
  return sentence(
      N_("{path} is not a kind of file that vramscope can read; give it a trace of the PyTorch Profiler, a CUDA "
         "memory snapshot, an exported memory timeline, or a log with memory tables or an out-of-memory message."));
}

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> table = [] {
    std::vector<Reader> all = reader_table();
    std::sort(all.begin(), all.end(), [](const Reader& a, const Reader& b) { return a.priority > b.priority; });
    return all;
  }();
  return table;
}

Result<Source> read_source(ByteStream& stream, const std::string& path, const Progress& progress) {
  constexpr std::size_t kHeadBytes = 256 * 1024;
  std::string bytes(kHeadBytes, '\0');
  std::size_t size = 0;
  bool is_whole = false;
  while (size < kHeadBytes && !is_whole) {
    const std::size_t got = stream.read(bytes.data() + size, kHeadBytes - size);
    is_whole = got == 0;
    size += got;
  }
  bytes.resize(size);
  const Head head{bytes, is_whole};
  for (const Reader& reader : readers()) {
    if (!reader.claims(head)) continue;
    RewoundStream whole(bytes, stream);
    return reader.read(whole, path, progress);
  }
  return unknown(path, head, stream);
}

Result<Source> load_source(const std::string& path, const Progress& progress) {
  Result<std::unique_ptr<ByteStream>> stream = open_stream(path);
  if (!stream) return stream.error();
  return read_source(**stream, path, progress);
}

}  // namespace vramscope
