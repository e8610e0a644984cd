#include "notify/curl.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope::curl {

namespace {

template <typename Function>
bool find(void* at, Function& function, const char* name) {
  void* address = dlsym(at, name);
  if (address == nullptr) return false;
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof address);
  return true;
}

bool find_all(void* at, Functions& f) {
  return find(at, f.global_init, "curl_global_init") && find(at, f.init, "curl_easy_init") &&
         find(at, f.set, "curl_easy_setopt") && find(at, f.perform, "curl_easy_perform") &&
         find(at, f.cleanup, "curl_easy_cleanup") && find(at, f.info, "curl_easy_getinfo") &&
         find(at, f.strerror, "curl_easy_strerror") && find(at, f.append, "curl_slist_append") &&
         find(at, f.free_all, "curl_slist_free_all");
}

}  // namespace

Result<const Functions*> library() {
  static Functions functions;
  static bool is_open = false;
  if (is_open) return &functions;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    void* at = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (at == nullptr) continue;
    constexpr long kGlobalAll = 3;  // CURL_GLOBAL_ALL
    if (find_all(at, functions) && functions.global_init(kGlobalAll) == kOk) {
      is_open = true;
      return &functions;
    }
    dlclose(at);
  }
  return Error{ExitCode::machine,
               tr("Mail and webhooks need the library libcurl.so.4, which is not there; install the package libcurl4 "
                  "(Debian, Ubuntu) or libcurl (Fedora).")};
}

Transfer::Transfer(const Functions& functions, const NotifySettings& settings, const Deadline& deadline_ns)
    : functions_(functions), deadline_ns_(deadline_ns), handle_(functions.init()) {
  if (handle_ == nullptr) throw std::bad_alloc();
  set(kNoSignal, 1L);
  functions_.set(handle_, kErrorBuffer, error_);
  functions_.set(handle_, kWriteFunction, &Transfer::drop);
  functions_.set(handle_, kXferInfoFunction, &Transfer::progress);
  functions_.set(handle_, kXferInfoData, this);
  set(kNoProgress, 0L);
  set(kTimeoutMs, static_cast<long>(settings.total_timeout.count()));
  set(kConnectTimeoutMs, static_cast<long>(settings.connect_timeout.count()));
}

Transfer::~Transfer() {
  functions_.cleanup(handle_);
  functions_.free_all(headers_);
  functions_.free_all(recipients_);
}

void Transfer::upload(const std::string& text) {
  text_ = &text;
  functions_.set(handle_, kReadFunction, &Transfer::read);
  functions_.set(handle_, kReadData, this);
  set(kUpload, 1L);
}

int Transfer::run() {
  if (headers_ != nullptr) functions_.set(handle_, kHttpHeader, headers_);
  if (recipients_ != nullptr) functions_.set(handle_, kMailRecipients, recipients_);
  return functions_.perform(handle_);
}

long Transfer::response_code() const {
  long code = 0;
  functions_.info(handle_, kInfoResponseCode, &code);
  return code;
}

std::string Transfer::reason(int code) const {
  return printable(error_[0] != '\0' ? error_ : functions_.strerror(code));
}

std::size_t Transfer::read(char* to, std::size_t size, std::size_t count, void* self) {
  Transfer& transfer = *static_cast<Transfer*>(self);
  const std::size_t taken = std::min(size * count, transfer.text_->size() - transfer.sent_);
  std::memcpy(to, transfer.text_->data() + transfer.sent_, taken);
  transfer.sent_ += taken;
  return taken;
}

std::size_t Transfer::drop(char*, std::size_t size, std::size_t count, void*) {
  return size * count;
}

int Transfer::progress(void* self, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
  return steady_now_ns() > static_cast<Transfer*>(self)->deadline_ns_.load() ? 1 : 0;
}

DeliveryProblem connection_problem(const Transfer& transfer, int code) {
  const std::string cause = fmt::format("curl {}", code);
  const auto say = [&](const char* text) {
    return fmt::format(fmt::runtime(text), fmt::arg("reason", transfer.reason(code)));
  };
  switch (code) {
    case kNoHost:
      return {say(tr("the name of the server is not known ({reason})")), false, cause};
    case kNoConnection:
      return {say(tr("there is no connection to the server ({reason})")), false, cause};
    case kTimedOut:
      return {say(tr("the server did not answer in time ({reason})")), false, cause};
    case kAborted:
      return {tr("there was no time left"), false, cause};
    case kBadCertificate:
      return {say(tr("the server's certificate is not trusted ({reason}); name the certificate of its authority as "
                     "ca_file in the configuration file")),
              false, cause};
    case kBadCaFile:
      return {say(tr("the file named as ca_file cannot be used ({reason})")), false, cause};
    case kNoTls:
      return {say(tr("the server offers no encryption ({reason}); tls = \"none\" would send without it")), true};
    default:
      break;
  }
  return {say(tr("it failed: {reason}")), false, cause};
}

}  // namespace vramscope::curl
