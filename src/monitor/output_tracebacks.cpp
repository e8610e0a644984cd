// Source of the layout: CPython, Lib/traceback.py.
#include "monitor/output_tracebacks.h"

#include <algorithm>
#include <array>

#include "system/fields.h"
#include "text/word_search.h"

namespace vramscope {

namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kHead = "Traceback (most recent call last)";
constexpr std::string_view kLinks[] = {"During handling of the above exception, another exception occurred",
                                       "The above exception was the direct cause of the following exception"};
constexpr WordSearch kSearch(std::array{kHead, kLinks[0], kLinks[1]});

// "train.py:42 in step" of `File "/home/me/train.py", line 42, in step`.
std::string frame_of(std::string_view text) {
  constexpr std::string_view kFile = "File \"";
  text.remove_prefix(kFile.size());
  const std::string_view path = take_until(text, '"');
  constexpr std::string_view kLine = ", line ";
  if (text.substr(0, kLine.size()) != kLine) return std::string(path.substr(0, kSignBytes));
  text.remove_prefix(kLine.size());
  const std::string_view number = take_until(text, ',');
  std::string frame(path.substr(0, kSignBytes));
  frame += ":" + std::string(number.substr(0, 12));
  if (text.substr(0, 4) == " in ") frame += text.substr(0, 200);
  return frame;
}

bool is_installed(std::string_view frame) {
  for (const std::string_view part : {"/site-packages/", "/dist-packages/", "/lib/python3", "<frozen "}) {
    if (frame.find(part) != kNone) return true;
  }
  return false;
}

// "torch.cuda.OutOfMemoryError: …", "KeyboardInterrupt", "exceptions.Mine": a dotted name, then a colon or nothing.
bool is_exception(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  if (name.empty() || name.size() > 120) return false;
  const char first = name.front();
  const bool is_name = (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z') || first == '_' ||
                       static_cast<unsigned char>(first) >= 0x80;
  return is_name && name.find_first_of(" \t\"'()[]/") == kNone;
}

}  // namespace

bool Tracebacks::may_begin(std::string_view line) {
  return kSearch.find(line, 0) != kNone;
}

void Tracebacks::begin(std::string_view prefix, std::int64_t number) {
  if (prefix.size() > 200) return;
  if (open_.size() == kMostOpen) open_.erase(open_.begin());
  Open opened;
  opened.prefix = std::string(prefix);
  opened.begin = opened.chain_begin = number;
  for (const Closed& closed : closed_) {
    if (closed.prefix == prefix && closed.is_linked) opened.chain_begin = closed.chain_begin;
  }
  open_.push_back(std::move(opened));
}

void Tracebacks::link(std::string_view line) {
  for (const std::string_view words : kLinks) {
    const std::size_t at = line.find(words);
    if (at == kNone) continue;
    for (Closed& closed : closed_) {
      if (closed.prefix == line.substr(0, at)) closed.is_linked = true;
    }
  }
}

std::optional<OutputSign> Tracebacks::close(std::size_t place, std::string_view exception, std::string_view line) {
  const Open opened = std::move(open_[place]);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(place));
  if (!is_exception(exception)) return std::nullopt;
  std::erase_if(closed_, [&](const Closed& closed) { return closed.prefix == opened.prefix; });
  if (closed_.size() == kMostOpen) closed_.erase(closed_.begin());
  closed_.push_back({opened.prefix, opened.chain_begin, false});
  OutputSign sign;
  sign.kind = SignKind::exception;
  sign.text = std::string(line.substr(0, kSignBytes));
  sign.type = std::string(take_until(exception, ':'));
  while (!exception.empty() && exception.front() == ' ') exception.remove_prefix(1);
  sign.detail = std::string(exception.substr(0, kSignBytes));
  sign.frame = opened.own_frame.empty() ? opened.frame : opened.own_frame;
  sign.first_line = opened.chain_begin;
  for (const std::string_view head : {"[rank", "[Rank "}) {
    const std::size_t at = opened.prefix.find(head);
    const auto rank =
        at == kNone ? std::nullopt : parse_leading_int64(std::string_view(opened.prefix).substr(at + head.size()));
    if (rank && *rank >= 0 && *rank < 1'000'000) sign.rank = static_cast<std::int32_t>(*rank);
  }
  return sign;
}

std::optional<OutputSign> Tracebacks::feed(std::string_view line, std::int64_t number) {
  const std::size_t head = line.find(kHead);
  if (head != kNone) {
    begin(line.substr(0, head), number);
    return std::nullopt;
  }
  link(line);
  std::erase_if(open_, [&](const Open& opened) { return number - opened.begin > kMostLines; });
  // The one with the longest prefix that the line has: an empty one fits all lines.
  std::size_t place = open_.size();
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const std::string& prefix = open_[i].prefix;
    if (line.substr(0, prefix.size()) != prefix) continue;
    if (place == open_.size() || prefix.size() >= open_[place].prefix.size()) place = i;
  }
  if (place >= open_.size()) return std::nullopt;
  Open& opened = open_[place];
  std::string_view rest = line.substr(std::min(opened.prefix.size(), line.size()));
  if (rest.empty()) return std::nullopt;
  if (rest.front() != ' ' && rest.front() != '\t') return close(place, rest, line);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  if (rest.substr(0, 6) != "File \"") return std::nullopt;
  opened.frame = frame_of(rest);
  if (!is_installed(opened.frame)) opened.own_frame = opened.frame;
  return std::nullopt;
}

}  // namespace vramscope
