#include "notify/channel.h"

#include "channel_table.h"
#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

const ChannelKind* kind_of(std::string_view written) {
  const std::string_view name = written.substr(0, written.find(':'));
  for (const ChannelKind& kind : channel_kinds()) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

std::string_view address_of(std::string_view written) {
  const std::size_t colon = written.find(':');
  return colon == written.npos ? std::string_view() : written.substr(colon + 1);
}

}  // namespace

const std::vector<ChannelKind>& channel_kinds() {
  static const std::vector<ChannelKind> kinds = channel_table();
  return kinds;
}

Result<OpenChannel> open_channel(std::string_view written, const NotifySettings& settings) {
  const ChannelKind* kind = kind_of(written);
  if (kind == nullptr) {
    std::string forms;
    for (const ChannelKind& known : channel_kinds()) forms += (forms.empty() ? "" : ", ") + std::string(known.form);
    return Error{
        ExitCode::usage,
        fmt::format(fmt::runtime(tr("There is no channel \"{word}\" for notices; write one of {forms}.")),
                    fmt::arg("word", printable(written.substr(0, written.find(':')))), fmt::arg("forms", forms))};
  }
  auto channel = kind->open(address_of(written), settings);
  if (!channel) return channel.error();
  OpenChannel open;
  open.written = std::string(written);
  open.shown = shown_channel(written);
  open.channel = std::move(*channel);
  return open;
}

std::string shown_channel(std::string_view written) {
  const ChannelKind* kind = kind_of(written);
  if (kind == nullptr) return printable(written);
  const std::string address = kind->shown(address_of(written));
  return address.empty() ? kind->name : fmt::format("{}:{}", kind->name, address);
}

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace vramscope
