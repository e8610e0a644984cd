#pragma once
// Translated messages. The catalogues (po/*.po) are compiled into the binary, so they work where the locale is
// not installed; only the choice of language looks at the environment.
#include <string>
#include <string_view>
#include <vector>

namespace vramscope {

// Marks a message id for extraction where it is only stored.
#define N_(msgid) msgid
// The same for a message with a plural form: both in one string, for tr_n(both, count) and for findings.
#define NN_(singular, plural) singular "\x01" plural

// The message in the chosen language, or the msgid itself. The result lives as long as the program.
const char* tr(const char* msgid);
// With a plural form for `count` (English msgids).
const char* tr_n(const char* singular, const char* plural, long count);
// What NN_ made. A message without a plural form is translated as by tr().
std::string tr_n(std::string_view both, long count);
// The English form alone.
std::string_view english_form(std::string_view both, long count);

// "en", "zh" (also "zh_CN", "zh_CN.UTF-8", "zh-Hans"); false for a language that we do not have.
// Call once at start, before other threads exist.
bool set_language(std::string_view name);
// From LANGUAGE, LC_ALL, LC_MESSAGES, LANG, in gettext's order of precedence.
void set_language_from_environment();
std::string_view language();
std::vector<std::string_view> languages();

}  // namespace vramscope
