// mail:ADDRESS sends a mail through the SMTP server of the configuration file.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "channel_table.h"
#include "fmt/format.h"
#include "notify/curl.h"
#include "notify/mail_text.h"
#include "notify/run_program.h"
#include "text/catalogue.h"
#include "text/error_reason.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr int kSubmissionPort = 587, kTlsPort = 465, kPlainPort = 25;

int port_of(const SmtpSettings& smtp) {
  if (smtp.port) return *smtp.port;
  if (smtp.tls == SmtpTls::tls) return kTlsPort;
  return smtp.tls == SmtpTls::starttls ? kSubmissionPort : kPlainPort;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

Result<std::string> read_password_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  char buffer[4096];
  const ssize_t count = file < 0 ? -1 : read(file, buffer, sizeof buffer);
  const int failed = errno;
  if (file >= 0) close(file);
  if (count >= 0) return first_line({buffer, static_cast<std::size_t>(count)});
  return Error{ExitCode::machine, fmt::format(fmt::runtime(tr("the file with the password cannot be read ({reason})")),
                                              fmt::arg("reason", error_reason(failed)))};
}

Result<std::string> password_of(const SmtpSettings& smtp, const Deadline& deadline_ns) {
  if (!smtp.password_file.empty()) return read_password_file(smtp.password_file);
  if (smtp.password_command.empty()) return smtp.password;
  ProgramRun run;
  run.arguments = {"sh", "-c", smtp.password_command};
  run.wants_output = true;
  const ProgramEnd end = run_program(run, deadline_ns);
  if (const auto problem = program_problem(end)) {
    return Error{ExitCode::machine, fmt::format(fmt::runtime(tr("the command for the password failed: {reason}")),
                                                fmt::arg("reason", problem->sentence))};
  }
  return first_line(end.output);
}

class MailChannel : public Channel {
 public:
  MailChannel(const curl::Functions& functions, std::string_view to, const NotifySettings& settings)
      : functions_(functions), settings_(settings) {
    addresses_.to = std::string(to);
    addresses_.host = settings.host.empty() ? "localhost" : settings.host;
    addresses_.from = settings.smtp.from.empty() ? "vramscope@" + addresses_.host : settings.smtp.from;
  }

  std::optional<DeliveryProblem> deliver(const Notice& notice, const Deadline& deadline_ns) override {
    const SmtpSettings& smtp = settings_.smtp;
    curl::Transfer transfer(functions_, settings_, deadline_ns);
    const std::string url = fmt::format("{}://{}:{}/{}", smtp.tls == SmtpTls::tls ? "smtps" : "smtp", smtp.host,
                                        port_of(smtp), addresses_.host);
    transfer.set(curl::kUrl, url.c_str());
    if (smtp.tls == SmtpTls::starttls) transfer.set(curl::kUseSsl, curl::kUseSslAll);
    if (!smtp.ca_file.empty()) transfer.set(curl::kCaInfo, smtp.ca_file.c_str());
    if (!smtp.user.empty()) {
      const auto password = password_of(smtp, deadline_ns);
      if (!password) return DeliveryProblem{password.error().message, false};
      transfer.set(curl::kUserName, smtp.user.c_str());
      transfer.set(curl::kPassword, password->c_str());
    }
    const std::string sender = '<' + addresses_.from + '>';
    transfer.set(curl::kMailFrom, sender.c_str());
    transfer.add_recipient('<' + addresses_.to + '>');
    const std::string text = mail_text(notice, addresses_);
    transfer.upload(text);
    const int code = transfer.run();
    if (code == curl::kOk) return std::nullopt;
    return problem_of(transfer, code);
  }

 private:
  // Replies of 500 and above are final (RFC 5321, 4.2.1).
  static DeliveryProblem problem_of(const curl::Transfer& transfer, int code) {
    constexpr long kFinal = 500;
    const long reply = transfer.response_code();
    if (code == curl::kLoginDenied) {
      return {reply >= kFinal || reply == 0
                  ? fmt::format(fmt::runtime(tr("the mail server refuses the login ({reply}); see user and password "
                                                "in the configuration file")),
                                fmt::arg("reply", reply))
                  : fmt::format(fmt::runtime(tr("the mail server cannot check the login now ({reply})")),
                                fmt::arg("reply", reply)),
              reply >= kFinal || reply == 0};
    }
    if (reply >= 400 && code != curl::kTimedOut && code != curl::kAborted && code != curl::kNoTls) {
      return {fmt::format(fmt::runtime(tr("the mail server refuses the mail with reply {reply} ({reason})")),
                          fmt::arg("reply", reply), fmt::arg("reason", transfer.reason(code))),
              reply >= kFinal};
    }
    return curl::connection_problem(transfer, code);
  }

  const curl::Functions& functions_;
  NotifySettings settings_;
  MailAddresses addresses_;
};

Result<std::unique_ptr<Channel>> open(std::string_view address, const NotifySettings& settings) {
  if (!is_mail_address(address)) {
    return Error{ExitCode::usage, fmt::format(fmt::runtime(tr("\"{word}\" is no mail address; write "
                                                              "mail:me@example.org, one channel for each address.")),
                                              fmt::arg("word", printable(address)))};
  }
  if (settings.smtp.host.empty()) {
    return Error{ExitCode::usage,
                 tr("Mail needs a server: write [smtp] with host = \"mail.example.org\" into the configuration file "
                    "(docs/configuration.md).")};
  }
  auto functions = curl::library();
  if (!functions) return functions.error();
  return std::unique_ptr<Channel>(std::make_unique<MailChannel>(**functions, address, settings));
}

std::string shown(std::string_view address) {
  return printable(address);
}

}  // namespace

ChannelKind channel_mail() {
  return {"mail", "mail:ADDRESS", N_("sends a mail through the server of the configuration file"), open, shown};
}

}  // namespace vramscope
