// command:SHELL runs a command of the user's: VRAMSCOPE_ALERT_… in its environment, the notice as JSON on its stdin.
#include "channel_table.h"
#include "notify/run_program.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

class CommandChannel : public Channel {
 public:
  CommandChannel(std::string_view command, const NotifySettings& settings)
      : command_(command), timeout_(settings.total_timeout) {}

  std::optional<DeliveryProblem> deliver(const Notice& notice, const Deadline& deadline_ns) override {
    ProgramRun run;
    run.arguments = {"sh", "-c", command_};
    run.environment = notice.environment;
    run.input = notice.json;
    run.timeout = timeout_;
    return program_problem(run_program(run, deadline_ns));
  }

 private:
  std::string command_;
  std::chrono::milliseconds timeout_;
};

Result<std::unique_ptr<Channel>> open(std::string_view command, const NotifySettings& settings) {
  if (command.find_first_not_of(" \t") == command.npos) {
    return Error{ExitCode::usage,
                 tr("A command is missing after command:, as 'command:logger -t gpu \"$VRAMSCOPE_ALERT_SUBJECT\"'.")};
  }
  return std::unique_ptr<Channel>(std::make_unique<CommandChannel>(command, settings));
}

// Of what may hold a secret, the program's name alone.
std::string shown(std::string_view command) {
  const std::size_t begin = std::min(command.find_first_not_of(" \t"), command.size());
  const std::string_view rest = command.substr(begin);
  const std::string_view first = rest.substr(0, rest.find_first_of(" \t"));
  return printable(first) + (first.size() < rest.size() ? " …" : "");
}

}  // namespace

ChannelKind channel_command() {
  return {"command", "command:SHELL", N_("runs a command with the notice in its environment and on its stdin"), open,
          shown};
}

}  // namespace vramscope
