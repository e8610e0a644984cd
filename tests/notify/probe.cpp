// For check_notify.py: one alert through the real channels, with times short enough for a test.
//   notify_probe CONFIG CHANNEL SECONDS CONNECT_MS TOTAL_MS BACK_OFF_MS
// Prints what the channel reports and "delivered"; ends when it is delivered or refused, or after SECONDS.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cli/config_file.h"
#include "notify/dispatcher.h"

using namespace vramscope;

namespace {

AlertEvent made_event() {
  AlertEvent event;
  event.key = event.rule = "memory.used > 90%";
  event.metric = "memory.used";
  event.comparison = ">";
  event.unit = AlertUnit::percent;
  event.value = 95;
  event.threshold = 90;
  event.real_time_ns = 1'700'000'000'000'000'000;
  event.since_real_ns = event.real_time_ns - 60'000'000'000;
  event.subject.host = "host";
  event.subject.gpu = 0;
  event.subject.gpu_name = "显卡";
  return event;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const auto milliseconds = [&](int i) { return std::chrono::milliseconds(std::atoi(argv[i])); };
  auto config = load_config(argv[1]);
  if (!config) {
    std::printf("%s\n", config.error().message.c_str());
    return 2;
  }
  NotifySettings settings = config->settings;
  settings.host = "host.example.org";
  settings.connect_timeout = milliseconds(4);
  settings.total_timeout = milliseconds(5);
  OutboxOptions options;
  options.back_off = {milliseconds(6)};
  std::atomic<bool> is_over{false};
  Dispatcher dispatcher(settings, options, [&](const ChannelReport& report) {
    std::printf("%s\n", report_sentence(report).c_str());
    std::fflush(stdout);
    if (report.news == ChannelNews::refused) is_over = true;
  });
  const auto channel = dispatcher.open(argv[2]);
  if (!channel) {
    std::printf("%s\n", channel.error().message.c_str());
    return 3;
  }
  dispatcher.post(made_event(), {*channel});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]));
  while (!is_over && dispatcher.delivered() == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (is_over) std::this_thread::sleep_for(std::chrono::milliseconds(500));  // would it try again?
  const std::size_t delivered = dispatcher.delivered();
  for (const Undelivered& each : dispatcher.close(std::chrono::milliseconds(0))) {
    std::printf("%s\n", undelivered_sentence(each).c_str());
  }
  if (delivered > 0) std::printf("delivered\n");
  return delivered > 0 ? 0 : 1;
}
