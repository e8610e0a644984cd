// webhook:URL posts the notice as JSON (docs/schemas/alert.schema.json).
#include "channel_table.h"
#include "fmt/format.h"
#include "notify/curl.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

class WebhookChannel : public Channel {
 public:
  WebhookChannel(const curl::Functions& functions, std::string_view url, const NotifySettings& settings)
      : functions_(functions), url_(url), settings_(settings) {}

  std::optional<DeliveryProblem> deliver(const Notice& notice, const Deadline& deadline_ns) override {
    curl::Transfer transfer(functions_, settings_, deadline_ns);
    transfer.set(curl::kUrl, url_.c_str());
    transfer.set(curl::kUserAgent, "vramscope");
    transfer.set(curl::kPost, 1L);
    transfer.set(curl::kPostFields, notice.json.c_str());
    transfer.set(curl::kPostFieldSize, static_cast<long>(notice.json.size()));
    transfer.add_header("Content-Type: application/json");
    transfer.add_header("Expect:");
    if (!settings_.webhook_ca_file.empty()) transfer.set(curl::kCaInfo, settings_.webhook_ca_file.c_str());
    const int code = transfer.run();
    if (code != curl::kOk) return curl::connection_problem(transfer, code);
    return answer_problem(transfer.response_code());
  }

 private:
  static std::optional<DeliveryProblem> answer_problem(long status) {
    constexpr long kRequestTimeout = 408, kTooEarly = 425, kTooMany = 429;
    if (status >= 200 && status < 300) return std::nullopt;
    const auto say = [&](const char* text) { return fmt::format(fmt::runtime(text), fmt::arg("status", status)); };
    // A redirection is not followed: it could lead the notice to somebody else.
    if (status >= 300 && status < 400) {
      return DeliveryProblem{say(tr("the receiver answers {status}, a redirection; give the address that it leads to")),
                             true};
    }
    const bool is_permanent = status < 500 && status != kRequestTimeout && status != kTooEarly && status != kTooMany;
    return DeliveryProblem{say(is_permanent ? tr("the receiver refuses the notice with status {status}")
                                            : tr("the receiver answers with status {status}")),
                           is_permanent};
  }

  const curl::Functions& functions_;
  std::string url_;
  NotifySettings settings_;
};

bool has_scheme(std::string_view url, std::string_view scheme) {
  return url.substr(0, scheme.size()) == scheme && url.size() > scheme.size();
}

Result<std::unique_ptr<Channel>> open(std::string_view url, const NotifySettings& settings) {
  if (!has_scheme(url, "http://") && !has_scheme(url, "https://")) {
    return Error{ExitCode::usage, tr("A webhook's address begins with https:// or http://, as "
                                     "webhook:https://hooks.example.org/gpu.")};
  }
  auto functions = curl::library();
  if (!functions) return functions.error();
  return std::unique_ptr<Channel>(std::make_unique<WebhookChannel>(**functions, url, settings));
}

// The paths of webhooks are secrets, and there may be a user and a password before the host.
std::string shown(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos) return printable(url);
  const std::size_t end = std::min(url.find_first_of("/?#", scheme + 3), url.size());
  std::string_view host = url.substr(scheme + 3, end - scheme - 3);
  if (const std::size_t at = host.rfind('@'); at != host.npos) host.remove_prefix(at + 1);
  return printable(url.substr(0, scheme + 3)) + printable(host) + (end < url.size() ? "/…" : "");
}

}  // namespace

ChannelKind channel_webhook() {
  return {"webhook", "webhook:URL", N_("posts the notice as JSON"), open, shown};
}

}  // namespace vramscope
