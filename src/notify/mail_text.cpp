#include "notify/mail_text.h"

#include <ctime>

#include "fmt/format.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

namespace {

constexpr std::size_t kLineColumns = 76;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kLetters[group >> (18 - 6 * k) & 63u] : '=';
    }
  }
  return text;
}

bool is_plain(std::string_view text) {
  for (const char c : text) {
    if (c < ' ' || c > '~') return false;
  }
  return text.find("=?") == text.npos;
}

// RFC 5322 dates are English everywhere.
constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void append_quoted(std::string& line, unsigned char byte) {
  line += fmt::format("={:02X}", byte);
}

}  // namespace

std::string encoded_header(std::string_view raw) {
  constexpr std::size_t kLongestPlain = 900;  // a line of a mail has at most 998 characters
  const std::string text = printable(raw);
  if (is_plain(text) && text.size() <= kLongestPlain) return text;
  constexpr std::size_t kBytesAWord = 39;  // 52 letters of base64, "Subject: =?utf-8?B?" and "?=": 73 characters
  std::string encoded, word;
  const auto end_word = [&] {
    if (word.empty()) return;
    encoded += (encoded.empty() ? "" : "\r\n ") + ("=?utf-8?B?" + base64(word)) + "?=";
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    if (word.size() + point.bytes > kBytesAWord) end_word();
    word += text.substr(at, point.bytes);
    at += point.bytes;
  }
  end_word();
  return encoded;
}

std::string quoted_printable(std::string_view text) {
  std::string out, line;
  const auto end_line = [&](const char* end) {
    out += line + end;
    line.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      end_line("\r\n");
      continue;
    }
    const bool ends_line = i + 1 == text.size() || text[i + 1] == '\n';
    const bool is_literal = (c > ' ' && c <= '~' && c != '=') || ((c == ' ' || c == '\t') && !ends_line);
    if (line.size() + (is_literal ? 1 : 3) > kLineColumns - 1) end_line("=\r\n");
    if (is_literal) {
      line += c;
    } else {
      append_quoted(line, static_cast<unsigned char>(c));
    }
  }
  if (!line.empty()) end_line("\r\n");
  return out;
}

std::string mail_date(std::int64_t epoch_ns) {
  const std::time_t seconds = static_cast<std::time_t>(epoch_ns / 1'000'000'000);
  std::tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr) return {};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} +0000", kDays[utc.tm_wday % 7], utc.tm_mday,
                     kMonths[utc.tm_mon % 12], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

bool is_mail_address(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == text.npos || at == 0 || at + 1 == text.size()) return false;
  return text.find_first_of(" \t\r\n<>,;:\"\\()") == text.npos && valid_utf8(text) == text && text.find('@') == at;
}

std::string mail_text(const Notice& notice, const MailAddresses& addresses) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) { text += fmt::format("{}: {}\r\n", name, value); };
  add("From", addresses.from);
  add("To", addresses.to);
  add("Subject", encoded_header(notice.subject));
  add("Date", mail_date(notice.real_time_ns));
  add("Message-ID", fmt::format("<{}@{}>", notice.id, addresses.host));
  if (notice.incident != notice.id) {
    // Mail programs then show what belongs together as one thread.
    add("In-Reply-To", fmt::format("<{}@{}>", notice.incident, addresses.host));
    add("References", fmt::format("<{}@{}>", notice.incident, addresses.host));
  }
  add("Auto-Submitted", "auto-generated");
  if (notice.is_urgent) add("Importance", "high");
  add("MIME-Version", "1.0");
  add("Content-Type", "text/plain; charset=utf-8");
  add("Content-Transfer-Encoding", "quoted-printable");
  return text + "\r\n" + quoted_printable(notice.mail_body);
}

}  // namespace vramscope
