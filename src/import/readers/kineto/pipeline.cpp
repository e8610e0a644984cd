#include "import/readers/kineto/pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "base/parallel.h"
#include "formats/kineto.h"
#include "import/readers/kineto/event_parser.h"
#include "import/readers/kineto/scan.h"
#include "import/readers/kineto/skipper.h"

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
        left_over_(first),
        offset_(offset) {}

  EventTotals run() {
    // What fits in one window is not worth a thread.
    Window first;
    if (next_window(first)) first_ = std::move(first);
    threads_ = is_read_ ? 1 : std::min(worker_count(), 8u);
    parsers_ = std::vector<EventParser>(threads_ + 1);  // the last one is for second tries
    tables_.resize(threads_ + 1);
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
    totals_.is_array_closed = !in_events_;
    return totals_;
  }

 private:
  void work(std::size_t thread) {
    Window window;
    while (next_window(window)) {
      window.parser = thread;
      window.batch.clear();
      window.result = parsers_[thread].parse(window.text.view(), window.offset, false, window.batch);
      if (!deliver(window)) return;
    }
  }

  // False at the end of the text.
  bool next_window(Window& window) {
    const std::lock_guard<std::mutex> guard(input_lock_);
    if (first_) {
      window = std::move(*first_);
      first_.reset();
      return true;
    }
    if (is_read_) return false;
    window.number = windows_++;
    window.offset = offset_;
    TextBuffer& text = window.text;
    text.swap(left_over_);
    left_over_.clear();
    const std::size_t goal = std::max(kWindowBytes, text.size() + 1);
    // Most inputs that are no large ones are small: the first window grows with its text.
    constexpr std::size_t kFirstBytes = 64 * 1024;
    std::size_t room = window.number > 0 ? goal : std::min(goal, text.size() + kFirstBytes);
    text.reserve(room);
    std::size_t size = text.size();
    while (size < goal) {
      if (size == room) {
        room = std::min(goal, room * 4);
        text.resize(size);
        text.reserve(room);
      }
      const std::size_t got = stream_.read(text.data() + size, room - size);
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
    const std::string_view text = window.text.view();
    if (in_events_ && carry_.empty() && !skipper_.is_active()) {
      merge(window.batch, window.parser);
      read_on(text, window.offset, window.is_last, window.result);
      return;
    }
    // The cut before this window was no event's start.
    merge_strings_only(window);
    if (carry_.empty()) {
      read_on(text, window.offset, window.is_last, std::nullopt);
      return;
    }
    carry_.append(text);
    // An event of many windows: trying again at each would take quadratic time.
    if (!window.is_last && carry_.size() < 2 * carry_tried_ && carry_.size() <= kMostEventBytes) return;
    const TextBuffer whole = std::move(carry_);
    carry_ = TextBuffer();
    read_on(whole.view(), carry_offset_, window.is_last, std::nullopt);
  }

  // Reads a text to its end: events, what stands around them, and what is skipped. `parsed`: how far its batch came,
  // where it has one.
  void read_on(std::string_view text, std::int64_t offset, bool is_last, std::optional<WindowResult> parsed) {
    const auto advance = [&](std::size_t count) {
      text.remove_prefix(count);
      offset += static_cast<std::int64_t>(count);
    };
    for (;;) {
      if (skipper_.is_active()) {
        const char* const behind = skipper_.feed(text.data(), text.data() + text.size());
        if (behind == nullptr) return;
        advance(static_cast<std::size_t>(behind - text.data()));
      }
      if (!in_events_) {
        std::size_t used = 0;
        if (!enters_events(text, offset, used)) return;
        advance(used);
        continue;
      }
      const WindowResult result = parsed ? *parsed : parse_again(text, offset, is_last);
      if (result.end == WindowEnd::between_events) return;
      advance(result.position);
      if (result.end == WindowEnd::array_closed) {
        in_events_ = false;
        envelope_.leave_events();
      } else if (!is_last || !parsed) {  // else it is parsed again, as the last
        const std::size_t behind = hold(text, offset);
        if (behind == std::string_view::npos) return;
        advance(behind);
      }
      parsed.reset();
    }
  }

  WindowResult parse_again(std::string_view text, std::int64_t offset, bool is_last) {
    Batch batch;
    const WindowResult result = parsers_.back().parse(text, offset, is_last, batch);
    merge(batch, parsers_.size() - 1);
    return result;
  }

  // Keeps an event, whose begin this is, until its end is there; npos. One that is too large is skipped, by the
  // skipper, or where an event that is whole shows that the text is damaged, up to that one.
  std::size_t hold(std::string_view text, std::int64_t offset) {
    if (text.size() <= kMostEventBytes) {
      carry_ = TextBuffer(text);
      carry_tried_ = carry_.size();
      carry_offset_ = offset;
      return std::string_view::npos;
    }
    const std::size_t next = parsers_.back().find_whole_event(text, 1);
    if (next != std::string_view::npos) {
      builder_.note("malformed_event", offset);
      return next;
    }
    builder_.note("event_too_large", offset);
    if (totals_.too_large_events++ == 0) totals_.first_too_large = offset;
    skipper_.begin();
    return 0;
  }

  // Text that stands around the events. True when events begin at its place `used`.
  bool enters_events(std::string_view text, std::int64_t offset, std::size_t& used) {
    if (!envelope_.is_closed()) {
      const Envelope::State state = envelope_.feed(text, used);
      if (state == Envelope::State::at_events) {
        // A merged file: the times of all its arrays count from the same base.
        builder_.note("second_event_array", offset + static_cast<std::int64_t>(used) - 1);
        in_events_ = true;
        return true;
      }
      if (state != Envelope::State::closed) return false;
    }
    if (is_behind_noted_) return false;
    const char* at = text.data() + used;
    const char* const end = text.data() + text.size();
    at = skip_space(at, end);
    while (at < end && *at == ',') at = skip_space(at + 1, end);
    if (at >= end) return false;
    // A second document has a base time of its own, perhaps: its events would land anywhere.
    is_behind_noted_ = true;
    builder_.note(*at == '{' || *at == '[' ? "second_document" : "text_behind_trace", offset + (at - text.data()));
    return false;
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
  unsigned threads_ = 1;
  std::vector<EventParser> parsers_;  // parsers_[i] belongs to thread i, the last one to the holder of order_lock_

  std::mutex input_lock_;  // guards the stream and these:
  TextBuffer left_over_;
  std::int64_t offset_;
  std::int64_t windows_ = 0;
  bool is_read_ = false;
  std::optional<Window> first_;  // read before the threads start

  std::mutex order_lock_;  // guards the builder, the envelope and these:
  std::condition_variable turn_;
  std::vector<MergeTables> tables_;
  std::map<std::int64_t, Window> waiting_;
  std::int64_t next_ = 0;
  bool in_events_ = true;
  bool is_behind_noted_ = false;
  Skipper skipper_;              // of an event that is too large
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
