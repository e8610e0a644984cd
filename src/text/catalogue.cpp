#include "text/catalogue.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "text/embedded_catalogues.h"
#include "text/mo_file.h"

namespace vramscope {
namespace {

struct Language {
  const char* name;       // what language() says
  const char* catalogue;  // name of the .po file; nullptr: the message ids themselves
  unsigned plural_forms;  // 1: one form for all counts; 2: one and many, as in English
};

constexpr std::array<Language, 2> kLanguages{{{"en", nullptr, 2}, {"zh", "zh_CN", 1}}};

struct Chosen {
  const Language* language = kLanguages.data();
  std::optional<MoFile> catalogue;
};

Chosen& chosen() {
  static Chosen state;
  return state;
}

std::optional<MoFile> open_catalogue(std::string_view name) {
  for (const EmbeddedCatalogue& each : embedded_catalogues()) {
    if (name == each.name) return MoFile::open({reinterpret_cast<const char*>(each.data), each.size});
  }
  return std::nullopt;
}

// "zh-Hans_CN.UTF-8@x" -> "zh_hans_cn"
std::string simplified_name(std::string_view name) {
  std::string out(name.substr(0, name.find_first_of(".@")));
  for (char& c : out) {
    if (c == '-') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool has_tag(const std::string& name, std::string_view tag) {
  const std::string wrapped = "_" + name + "_";
  return wrapped.find("_" + std::string(tag) + "_") != std::string::npos;
}

const Language* find_language(std::string_view locale) {
  const std::string name = simplified_name(locale);
  if (name == "c" || name == "posix") return kLanguages.data();
  // Readers of Traditional Chinese are not given Simplified unasked; gettext does not fall back there either.
  const bool traditional =
      has_tag(name, "hant") ||
      (!has_tag(name, "hans") && (has_tag(name, "tw") || has_tag(name, "hk") || has_tag(name, "mo")));
  for (const Language& each : kLanguages) {
    if (name.substr(0, name.find('_')) != each.name) continue;
    if (each.catalogue != nullptr && traditional) return nullptr;
    return &each;
  }
  return nullptr;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

const char* tr(const char* msgid) {
  const Chosen& now = chosen();
  if (!now.catalogue || *msgid == '\0') return msgid;  // the empty id holds the catalogue's header
  const char* found = now.catalogue->find(msgid);
  return found == nullptr ? msgid : found;
}

const char* tr_n(const char* singular, const char* plural, long count) {
  const Chosen& now = chosen();
  const char* own = count == 1 ? singular : plural;
  if (!now.catalogue || *singular == '\0') return own;
  const unsigned form = now.language->plural_forms > 1 && count != 1 ? 1 : 0;
  const char* found = now.catalogue->find_plural(singular, form);
  return found == nullptr ? own : found;
}

namespace {
constexpr char kPluralMark = '\x01';  // as NN_ puts it
}

std::string tr_n(std::string_view both, long count) {
  const std::size_t mark = both.find(kPluralMark);
  if (mark == std::string_view::npos) return tr(std::string(both).c_str());
  const std::string singular(both.substr(0, mark));
  const std::string plural(both.substr(mark + 1));
  return tr_n(singular.c_str(), plural.c_str(), count);
}

std::string_view english_form(std::string_view both, long count) {
  const std::size_t mark = both.find(kPluralMark);
  if (mark == std::string_view::npos) return both;
  return count == 1 ? both.substr(0, mark) : both.substr(mark + 1);
}

bool set_language(std::string_view name) {
  const Language* found = find_language(name);
  if (found == nullptr) return false;
  chosen().language = found;
  chosen().catalogue = found->catalogue == nullptr ? std::nullopt : open_catalogue(found->catalogue);
  return true;
}

void set_language_from_environment() {
  set_language("en");
  std::string_view locale;
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    locale = environment(name);
    if (!locale.empty()) break;
  }
  if (locale == "C" || locale == "POSIX") return;
  // gettext also ignores LANGUAGE where no locale is set at all. We obey it: containers often set nothing else.
  std::string_view wanted = environment("LANGUAGE");
  if (wanted.empty()) {
    set_language(locale);
    return;
  }
  while (!wanted.empty()) {
    const std::size_t colon = wanted.find(':');
    const std::string_view first = wanted.substr(0, colon);
    if (!first.empty() && set_language(first)) return;
    if (colon == std::string_view::npos) return;
    wanted.remove_prefix(colon + 1);
  }
}

std::string_view language() {
  return chosen().language->name;
}

std::vector<std::string_view> languages() {
  std::vector<std::string_view> names;
  for (const Language& each : kLanguages) names.emplace_back(each.name);
  return names;
}

}  // namespace vramscope
