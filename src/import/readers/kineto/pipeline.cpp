#include "import/readers/kineto/pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

#include "base/parallel.h"
#include "formats/kineto.h"
#include "import/readers/kineto/event_parser.h"

namespace vramscope::kineto {

namespace {

constexpr std::size_t kWindowBytes = 1u << 20;

// A piece of text and, once parsed, what was in it.
struct Window {
  std::int64_t number = 0;
  std::int64_t offset = 0;
  TextBuffer text;
  bool is_last = false;
  WindowResult result;
  Batch batch;
  std::size_t parser = 0;  // whose tables the batch speaks of
};

// A parser's local ids in the builder's terms.
struct MergeTables {
  std::vector<StringId> strings = {0};
  std::vector<TrackId> tracks;
  std::vector<CategoryId> categories;
};

class Pipeline {
 public:
  Pipeline(ByteStream& stream, std::string_view first, std::int64_t offset, const Progress& progress,
           Envelope& envelope, TraceBuilder& builder)
      : stream_(stream),
        progress_(progress),
        envelope_(envelope),
        builder_(builder),
        threads_(std::min(worker_count(), 8u)),
        parsers_(threads_ + 1),  // the last one is for second tries
        left_over_(first),
        offset_(offset),
        tables_(threads_ + 1) {}

  EventTotals run() {
    parallel_for(threads_, [this](std::size_t thread) {
      try {
        work(thread);
      } catch (...) {
        const std::lock_guard<std::mutex> guard(order_lock_);
        failed_ = true;
        turn_.notify_all();
        throw;
      }
    });
    for (EventParser& parser : parsers_) builder_.strings().adopt(parser.take_strings());
    for (const auto& [name, count] : counts_) {
      totals_.by_category.push_back({name == 0 ? "(none)" : std::string(builder_.strings().view(name)), count});
    }
    std::sort(totals_.by_category.begin(), totals_.by_category.end(),
              [](const CategoryCount& a, const CategoryCount& b) { return a.name < b.name; });
    totals_.text_bytes = offset_;
    return totals_;
  }

 private:
  void work(std::size_t thread) {
    Window window;
    while (next_window(window)) {
      window.parser = thread;
      window.batch.clear();
      window.result = parsers_[thread].parse(window.text, window.offset, false, window.batch);
      if (!deliver(window)) return;
    }
  }

  // False at the end of the text.
  bool next_window(Window& window) {
    const std::lock_guard<std::mutex> guard(input_lock_);
    if (is_read_) return false;
    window.number = windows_++;
    window.offset = offset_;
    TextBuffer& text = window.text;
    text.swap(left_over_);
    left_over_.clear();
    const std::size_t goal = std::max(kWindowBytes, text.size() + 1);
    text.reserve(goal);
    std::size_t size = text.size();
    while (size < goal) {
      const std::size_t got = stream_.read(text.data() + size, goal - size);
      if (got == 0) {
        is_read_ = true;
        break;
      }
      size += got;
    }
    text.resize(size);
    window.is_last = is_read_;
    if (!is_read_) {
      const std::size_t cut = rfind_event_start(text.view());
      if (cut != std::string_view::npos && cut > 0) {
        left_over_.append(text.view().substr(cut));
        text.resize(cut);
      }
    }
    offset_ += static_cast<std::int64_t>(text.size());
    if (progress_) progress_(stream_.consumed(), stream_.file_size());
    return true;
  }

  // Puts the window in its place; whoever brings the next one in order merges all that are ready. The caller gets
  // an empty window back. False when another thread failed.
  bool deliver(Window& window) {
    std::unique_lock<std::mutex> guard(order_lock_);
    const auto most_ahead = static_cast<std::int64_t>(2 * threads_);
    turn_.wait(guard, [&] { return failed_ || window.number < next_ + most_ahead; });
    if (failed_) return false;
    waiting_.emplace(window.number, std::move(window));
    window = Window();
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      Window ready = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      consume(ready);
      ++next_;
    }
    turn_.notify_all();
    return true;
  }

  void consume(Window& window) {
    if (totals_.is_array_closed) {
      merge_strings_only(window);
      feed_envelope(window.text.view());
      return;
    }
    if (carry_.empty()) {
      merge(window.batch, window.parser);
      finish_window(window.text, window.offset, window.result, window.is_last);
      return;
    }
    // The cut before this window was no event's start.
    merge_strings_only(window);
    carry_.append(window.text.view());
    // An event of many windows: trying again at each would take quadratic time.
    if (!window.is_last && carry_.size() < 2 * carry_tried_ && carry_.size() <= kMostEventBytes) return;
    const TextBuffer text = std::move(carry_);
    carry_ = TextBuffer();
    parse_again(text, carry_offset_, window.is_last);
  }

  void parse_again(const TextBuffer& text, std::int64_t offset, bool is_last) {
    const bool is_final = is_last || text.size() > kMostEventBytes;
    Batch batch;
    const WindowResult result = parsers_.back().parse(text, offset, is_final, batch);
    merge(batch, parsers_.size() - 1);
    finish_window(text, offset, result, is_last);
  }

  void finish_window(const TextBuffer& text, std::int64_t offset, WindowResult result, bool is_last) {
    switch (result.end) {
      case WindowEnd::between_events:
        return;
      case WindowEnd::array_closed:
        totals_.is_array_closed = true;
        envelope_.leave_events();
        feed_envelope(text.view().substr(result.position));
        return;
      case WindowEnd::inside_event:
        carry_ = TextBuffer(text.view().substr(result.position));
        carry_tried_ = carry_.size();
        carry_offset_ = offset + static_cast<std::int64_t>(result.position);
        if (!is_last) return;
        const TextBuffer rest = std::move(carry_);
        carry_ = TextBuffer();
        parse_again(rest, carry_offset_, true);
        return;
    }
  }

  void feed_envelope(std::string_view text) {
    std::size_t used = 0;
    const Envelope::State state = envelope_.feed(text, used);
    // A second array of events is not read: no exporter writes one.
    if (state == Envelope::State::at_events) builder_.note("second_event_array", offset_);
  }

  // A batch that is thrown away may have been the first to see a string: its ids stay in use.
  void merge_strings_only(const Window& window) { merge_tables(window.batch, tables_[window.parser]); }

  void merge_tables(const Batch& batch, MergeTables& tables) {
    for (const std::string_view text : batch.new_strings) {
      tables.strings.push_back(builder_.strings().intern_stable(text));
    }
    for (const auto& [pid, tid] : batch.new_tracks) {
      tables.tracks.push_back(builder_.track(tables.strings[pid], tables.strings[tid]));
    }
    for (const StringId local : batch.new_categories) {
      const StringId name = tables.strings[local];
      tables.categories.push_back(builder_.category(name, kind_of(builder_.strings().view(name))));
    }
  }

  void merge(Batch& batch, std::size_t parser) {
    MergeTables& tables = tables_[parser];
    merge_tables(batch, tables);
    const std::vector<StringId>& strings = tables.strings;
    const auto op_base = static_cast<std::uint32_t>(builder_.op_args_size());
    const auto device_base = static_cast<std::uint32_t>(builder_.device_args_size());
    for (OpArgs& args : batch.op_args) {
      args.shapes = strings[args.shapes];
      args.types = strings[args.types];
      builder_.add(args);
    }
    for (const DeviceArgs& args : batch.device_args) builder_.add(args);
    const auto args_base = [&](CategoryId category) {
      const SpanKind kind = builder_.kind_of(category);
      return kind == SpanKind::cpu_op || kind == SpanKind::annotation ? op_base : device_base;
    };
    for (SpanRow& row : batch.spans) {
      row.category = tables.categories[row.category];
      row.name = strings[row.name];
      row.track = tables.tracks[row.track];
      if (row.stack != 0) row.stack = builder_.stack(strings[row.stack]);
      if (row.args != kNone) row.args += args_base(row.category);
      builder_.add(row);
    }
    for (MarkRow& row : batch.marks) {
      row.category = tables.categories[row.category];
      row.name = strings[row.name];
      row.track = tables.tracks[row.track];
      if (row.args != kNone) row.args += args_base(row.category);
      builder_.add(row);
    }
    for (MemoryRow& row : batch.memory) {
      row.track = tables.tracks[row.track];
      builder_.add(row);
    }
    for (FlowRow& row : batch.flows) {
      row.category = tables.categories[row.category];
      row.track = tables.tracks[row.track];
      builder_.add(row);
    }
    for (Instant& row : batch.instants) {
      row.category = tables.categories[row.category];
      row.name = strings[row.name];
      row.track = tables.tracks[row.track];
      builder_.add(row);
    }
    for (const Batch::Counter& row : batch.counters) {
      builder_.add_counter(strings[row.name], strings[row.key], tables.tracks[row.track], row.time_ns, row.value);
    }
    merge_rest(batch, tables);
  }

  void merge_rest(const Batch& batch, const MergeTables& tables) {
    for (const Batch::Name& row : batch.names) {
      const StringId pid = tables.strings[row.pid];
      const StringId name = tables.strings[row.name];
      if (row.tid == 0) {
        builder_.name_process(pid, name);
      } else {
        builder_.name_track(pid, tables.strings[row.tid], name);
      }
    }
    for (const Trouble& trouble : batch.trouble) builder_.note(trouble.name, trouble.first_offset, trouble.count);
    for (std::size_t i = 0; i < batch.events_by_category.size(); ++i) {
      if (batch.events_by_category[i] == 0) continue;
      counts_[builder_.category_name(tables.categories[i])] += batch.events_by_category[i];
    }
    totals_.events += batch.events;
    totals_.metadata_events += batch.metadata_events;
    if (batch.first_ns <= batch.last_ns) {
      totals_.first_ns = totals_.has_time ? std::min(totals_.first_ns, batch.first_ns) : batch.first_ns;
      totals_.last_ns = totals_.has_time ? std::max(totals_.last_ns, batch.last_ns) : batch.last_ns;
      totals_.has_time = true;
    }
  }

  ByteStream& stream_;
  const Progress& progress_;
  Envelope& envelope_;
  TraceBuilder& builder_;
  const unsigned threads_;
  std::vector<EventParser> parsers_;  // parsers_[i] belongs to thread i, the last one to the holder of order_lock_

  std::mutex input_lock_;  // guards the stream and these:
  TextBuffer left_over_;
  std::int64_t offset_;
  std::int64_t windows_ = 0;
  bool is_read_ = false;

  std::mutex order_lock_;  // guards the builder, the envelope and these:
  std::condition_variable turn_;
  std::vector<MergeTables> tables_;
  std::map<std::int64_t, Window> waiting_;
  std::int64_t next_ = 0;
  TextBuffer carry_;             // the begin of an event whose end is in a later window
  std::size_t carry_tried_ = 0;  // its size when it was last parsed
  std::int64_t carry_offset_ = 0;
  std::map<StringId, std::int64_t> counts_;
  EventTotals totals_;
  bool failed_ = false;
};

}  // namespace

EventTotals read_events(ByteStream& stream, std::string_view first, std::int64_t offset, const Progress& progress,
                        Envelope& envelope, TraceBuilder& builder) {
  return Pipeline(stream, first, offset, progress, envelope, builder).run();
}

}  // namespace vramscope::kineto
