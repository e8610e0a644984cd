#pragma once
// A notice as a mail: RFC 5322 headers, MIME (RFC 2045, 2047), lines that end with CR LF.
#include <cstdint>
#include <string>
#include <string_view>

#include "notify/channel.h"

namespace vramscope {

struct MailAddresses {
  std::string from;
  std::string to;
  std::string host;  // right side of Message-ID
};

std::string mail_text(const Notice& notice, const MailAddresses& addresses);
// A header's text: plain where it is short ASCII, else encoded words of at most 75 characters, folded.
std::string encoded_header(std::string_view text);
// RFC 2045 section 6.7, with CR LF.
std::string quoted_printable(std::string_view text);
// "Mon, 02 Jan 2006 15:04:05 +0000"
std::string mail_date(std::int64_t epoch_ns);
// Good enough to be handed to a server: one @ with text on both sides, nothing that could end a header or begin another
// address.
bool is_mail_address(std::string_view text);

}  // namespace vramscope
