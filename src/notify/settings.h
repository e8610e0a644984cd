#pragma once
// What channels need besides their address: from the configuration file, or its defaults.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace vramscope {

enum class SmtpTls : std::uint8_t {
  starttls,  // refuses to go on when the server does not offer it
  tls,       // from the first byte
  none
};

struct SmtpSettings {
  std::string host;         // empty: mail is not set up
  std::optional<int> port;  // 587, 465 or 25 by `tls`
  SmtpTls tls = SmtpTls::starttls;
  std::string from;  // empty: vramscope@ and this machine's name
  std::string user;  // empty: no login
  // At most one of them; read at each delivery, so that a new password needs no restart.
  std::string password;
  std::string password_file;
  std::string password_command;  // for sh -c; the first line that it prints
  std::string ca_file;           // certificates to trust in place of the system's
};

struct NotifySettings {
  SmtpSettings smtp;
  std::string webhook_ca_file;
  std::string host;  // this machine's name, for the sender and Message-ID
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds total_timeout{30'000};  // of one delivery, of a command too
};

}  // namespace vramscope
