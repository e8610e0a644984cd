#include "notify/dispatcher.h"

#include <algorithm>

#include "fmt/format.h"
#include "report/alert_message.h"
#include "text/catalogue.h"
#include "text/date.h"

namespace vramscope {

namespace {

// FNV-1a, 64 bits: for ids that are the same at every try.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

void add_environment(const AlertEvent& event, Notice& notice) {
  const auto add = [&](const char* name, const std::string& value) {
    std::string safe;
    for (const char c : value) safe += c == '\0' ? ' ' : c;
    notice.environment.emplace_back(std::string("VRAMSCOPE_ALERT_") + name, safe);
  };
  add("KIND", alert_kind_name(event.kind));
  add("SEVERITY", severity_name(event.severity));
  add("RULE", event.rule);
  add("SUBJECT", notice.subject);
  add("TEXT", alert_sentence(event, Wording::chosen_language));
  add("BODY", notice.body);
  add("TIME", format_utc(event.real_time_ns));
  add("HOST", event.subject.host);
  if (event.subject.gpu) add("GPU", std::to_string(*event.subject.gpu));
  if (!event.subject.gpu_uuid.empty()) add("GPU_UUID", event.subject.gpu_uuid);
  if (event.value) add("VALUE", fmt::format("{}", *event.value));
  if (event.threshold) add("THRESHOLD", fmt::format("{}", *event.threshold));
  if (const char* unit = alert_unit_name(event.unit); *unit != '\0') add("UNIT", unit);
  std::optional<std::int64_t> pid;
  if (event.subject.process) {
    pid = event.subject.process->pid;
  } else if (!event.holders.empty()) {
    pid = event.holders.front().pid;
  }
  if (pid) add("PID", std::to_string(*pid));
}

}  // namespace

Notice notice_of(const AlertEvent& event) {
  Notice notice;
  notice.key = event.key;
  const std::string incident = fmt::format("{}\n{}\n{}", event.subject.host, event.key, event.since_real_ns);
  notice.incident = fmt::format("vramscope.{:016x}", hash_of(incident));
  notice.id = notice.incident;
  if (event.kind != AlertKind::fired) notice.id += fmt::format(".{}", event.real_time_ns);
  const AlertMessage message = alert_message(event);
  AlertMessageOptions for_mail;
  for_mail.ascii = true;
  notice.subject = message.subject;
  notice.body = message.body;
  notice.mail_body = alert_message(event, for_mail).body;
  notice.json = alert_json(event);
  notice.is_urgent = event.severity == Severity::error && event.kind != AlertKind::resolved;
  notice.real_time_ns = event.real_time_ns;
  add_environment(event, notice);
  return notice;
}

Dispatcher::Dispatcher(NotifySettings settings, OutboxOptions options, std::function<void(const ChannelReport&)> report)
    : settings_(std::move(settings)), options_(std::move(options)), report_(std::move(report)) {}

Result<std::size_t> Dispatcher::open(const std::string& written) {
  const auto known = std::find(written_.begin(), written_.end(), written);
  if (known != written_.end()) return static_cast<std::size_t>(known - written_.begin());
  auto channel = open_channel(written, settings_);
  if (!channel) return channel.error();
  const auto report = [this](const ChannelReport& each) {
    const std::lock_guard<std::mutex> guard(report_lock_);
    if (report_) report_(each);
  };
  outboxes_.push_back(std::make_unique<Outbox>(std::move(*channel), options_, report));
  written_.push_back(written);
  return outboxes_.size() - 1;
}

void Dispatcher::post(const AlertEvent& event, const std::vector<std::size_t>& channels) {
  if (channels.empty()) return;
  const Notice notice = notice_of(event);
  for (const std::size_t channel : channels) outboxes_[channel]->post(notice);
}

std::vector<Undelivered> Dispatcher::close(std::chrono::milliseconds limit) {
  const std::int64_t end_ns = steady_now_ns() + std::chrono::duration_cast<std::chrono::nanoseconds>(limit).count();
  std::vector<std::vector<Undelivered>> each(outboxes_.size());
  std::vector<std::thread> closing;
  for (std::size_t i = 0; i < outboxes_.size(); ++i) {
    closing.emplace_back([&, i] {
      const auto left = std::chrono::nanoseconds(std::max<std::int64_t>(0, end_ns - steady_now_ns()));
      each[i] = outboxes_[i]->close(std::chrono::duration_cast<std::chrono::milliseconds>(left));
    });
  }
  for (std::thread& thread : closing) thread.join();
  std::vector<Undelivered> all;
  for (std::vector<Undelivered>& list : each) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::size_t Dispatcher::delivered() const {
  std::size_t count = 0;
  for (const auto& outbox : outboxes_) count += outbox->delivered();
  return count;
}

std::string undelivered_sentence(const Undelivered& notice) {
  const char* text = notice.reason.empty()
                         ? tr("{channel} did not get the notice \"{subject}\": there was no time left.")
                         : tr("{channel} did not get the notice \"{subject}\": {reason}.");
  return fmt::format(fmt::runtime(text), fmt::arg("channel", notice.channel), fmt::arg("subject", notice.subject),
                     fmt::arg("reason", notice.reason));
}

}  // namespace vramscope
