// desktop shows a notice on the screen of the user who runs vramscope, with notify-send.
#include "channel_table.h"
#include "notify/run_program.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr const char* kProgram = "notify-send";

// The first lines; servers read the text as markup.
std::string marked_up(std::string_view body) {
  const std::string_view first = body.substr(0, body.find("\n\n"));
  std::string text;
  for (const char c : first) {
    if (c == '&') {
      text += "&amp;";
    } else if (c == '<') {
      text += "&lt;";
    } else if (c == '>') {
      text += "&gt;";
    } else {
      text += c == '\n' ? ' ' : c;
    }
  }
  return text;
}

class DesktopChannel : public Channel {
 public:
  std::optional<DeliveryProblem> deliver(const Notice& notice, const Deadline& deadline_ns) override {
    ProgramRun run;
    run.arguments = {kProgram, "--app-name=vramscope", notice.is_urgent ? "--urgency=critical" : "--urgency=normal",
                     "--",     notice.subject,         marked_up(notice.body)};
    run.timeout = std::chrono::milliseconds(10'000);
    return program_problem(run_program(run, deadline_ns));
  }
};

Result<std::unique_ptr<Channel>> open(std::string_view address, const NotifySettings&) {
  if (!address.empty()) {
    return Error{ExitCode::usage, tr("The channel desktop has no address; write it without a colon.")};
  }
  if (!is_program_there(kProgram)) {
    return Error{ExitCode::machine,
                 tr("The channel desktop needs the program notify-send, which is not there; install the package "
                    "libnotify-bin (Debian, Ubuntu) or libnotify (Fedora).")};
  }
  return std::unique_ptr<Channel>(std::make_unique<DesktopChannel>());
}

std::string shown(std::string_view) {
  return {};
}

}  // namespace

ChannelKind channel_desktop() {
  return {"desktop", "desktop", N_("shows a notice on this machine's screen"), open, shown};
}

}  // namespace vramscope
