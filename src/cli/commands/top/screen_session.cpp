#include "cli/commands/top/screen_session.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/commands/top/setup_file.h"
#include "cli/inputs.h"
#include "fmt/format.h"
#include "report/phrases.h"
#include "system/files.h"
#include "system/send_signal.h"
#include "system/signal_name.h"
#include "text/catalogue.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "tui/feed.h"
#include "tui/terminal.h"
#include "tui/view.h"

namespace vramscope {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

// All of them, as something to poll. Before any thread starts: every thread leaves them to us.
Descriptor take_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kSignals) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Stops this program as Ctrl-Z would have; returns when it goes on.
void stop_until_continued() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTSTP);
  signal(SIGTSTP, SIG_DFL);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

class ScreenSession {
 public:
  ScreenSession(const TopOptions& options, const tui::Setup& setup, const std::string& setup_path, tui::Feed& feed,
                tui::TerminalScreen& screen, std::int64_t interval_ns)
      : options_(options), setup_path_(setup_path), feed_(feed), screen_(screen) {
    ui_.setup = setup;
    ui_.filter = options.filter;
    view_options_ = {interval_ns, options.is_simulated(), !terminal().utf8, terminal().colour};
  }
  void say(std::string message) { ui_.message = std::move(message); }
  // Until the user quits or the terminal is gone.
  void run(const Descriptor& signals, const Descriptor& news);

 private:
  enum class Go { on, quit };
  Go take_signals(const Descriptor& signals);
  Go take_keys(bool is_readable);
  Go act(tui::Action action);
  void send_signal_to_target();
  void save();
  void request_what_is_shown();
  void draw();
  const char* refusal() const;

  const TopOptions& options_;
  std::string setup_path_;
  tui::Feed& feed_;
  tui::TerminalScreen& screen_;
  tui::UiState ui_;
  tui::View view_;
  tui::ViewOptions view_options_;
  tui::Frame frame_{80, 24};
  std::optional<tui::Scene> held_;  // while paused
};

ScreenSession::Go ScreenSession::take_signals(const Descriptor& signals) {
  signalfd_siginfo info;
  while (read(signals.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    switch (static_cast<int>(info.ssi_signo)) {
      case SIGTSTP:
        screen_.suspend();
        stop_until_continued();
        screen_.resume();
        screen_.resize();
        break;
      case SIGCONT:  // somebody stopped us without asking; the shell has had the terminal meanwhile
        screen_.resume();
        screen_.resize();
        break;
      case SIGWINCH:
        screen_.resize();
        break;
      default:
        return Go::quit;
    }
  }
  return Go::on;
}

ScreenSession::Go ScreenSession::take_keys(bool is_readable) {
  bool is_any = false;
  while (const auto input = screen_.next_input()) {
    is_any = true;
    if (act(tui::handle(ui_, *input, view_)) == Go::quit) return Go::quit;
    request_what_is_shown();
    draw();  // the next key is about what this one has changed
  }
  // Readable and nothing there: the terminal is gone.
  int bytes = 0;
  if (is_readable && !is_any && ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes == 0) return Go::quit;
  return Go::on;
}

// Why no signal can be sent; null when one can.
const char* ScreenSession::refusal() const {
  if (!options_.source().empty())
    return tr("What is played back has no processes of this machine; no signal was sent.");
  if (ui_.target && ui_.target->process.start_ticks == 0) {
    return tr("/proc does not show this process here; no signal was sent.");
  }
  return nullptr;
}

void ScreenSession::send_signal_to_target() {
  if (!ui_.target) return;
  if (const char* why = refusal()) return say(why);
  const ProcessKey& key = ui_.target->process;
  if (const auto error = send_signal(key, ui_.signal)) return say(error->message);
  say(filled(tr("{signal} was sent to process {pid}."), fmt::arg("signal", signal_name(ui_.signal)),
             fmt::arg("pid", key.pid)));
}

void ScreenSession::save() {
  const auto error = save_setup(setup_path_, ui_.setup);
  say(error ? error->message : filled(tr("Saved in {path}."), fmt::arg("path", printable(setup_path_))));
}

ScreenSession::Go ScreenSession::act(tui::Action action) {
  switch (action) {
    case tui::Action::none:
      break;
    case tui::Action::quit:
      return Go::quit;
    case tui::Action::redraw:
      screen_.forget();
      break;
    case tui::Action::send_signal:
      send_signal_to_target();
      break;
    case tui::Action::save_setup:
      save();
      break;
  }
  return Go::on;
}

void ScreenSession::request_what_is_shown() {
  feed_.set_zoom(ui_.setup.zoom);
  if (!ui_.is_paused) {
    held_.reset();
  } else if (!held_) {
    feed_.read([&](const tui::Scene& scene) { held_ = scene; });
  }
  std::optional<tui::DetailsRequest> request;
  if (ui_.mode == tui::Mode::details && ui_.selected) {
    request.emplace();
    request->key = ui_.selected->process;
    request->with_environment = ui_.with_environment;
    feed_.read([&](const tui::Scene& scene) {
      if (ui_.selected->device < scene.devices.size()) request->device_uuid = scene.devices[ui_.selected->device].uuid;
    });
  }
  feed_.set_details(std::move(request));
}

void ScreenSession::draw() {
  const auto size = screen_.size();
  frame_.reset(size.columns, size.rows);
  const auto silent_ns = feed_.silent_ns();
  if (held_) {
    if (ui_.mode == tui::Mode::details) feed_.read([&](const tui::Scene& scene) { held_->details = scene.details; });
    tui::draw(frame_, *held_, ui_, silent_ns, view_options_, view_);
  } else {
    feed_.read([&](const tui::Scene& scene) { tui::draw(frame_, scene, ui_, silent_ns, view_options_, view_); });
  }
  screen_.draw(frame_);
}

void ScreenSession::run(const Descriptor& signals, const Descriptor& news) {
  constexpr std::int64_t kBetweenFramesNs = 30'000'000;  // however fast samples come
  constexpr int kTickMs = 1000;                          // for what is told of a driver that does not answer
  bool is_due = true;
  std::int64_t drawn_ns = 0;
  while (true) {
    const std::int64_t left_ns = drawn_ns + kBetweenFramesNs - monotonic_now_ns();
    if (is_due && left_ns <= 0) {
      draw();
      drawn_ns = monotonic_now_ns();
      is_due = false;
    }
    const int wait_ms = is_due ? static_cast<int>(std::max<std::int64_t>(left_ns / 1'000'000, 0) + 1) : kTickMs;
    pollfd ready[3] = {{STDIN_FILENO, POLLIN, 0}, {signals.get(), POLLIN, 0}, {news.get(), POLLIN, 0}};
    const int count = poll(ready, 3, wait_ms);
    if ((ready[1].revents & POLLIN) != 0) {
      if (take_signals(signals) == Go::quit) return;
      is_due = true;
      drawn_ns = 0;
    }
    if (ready[0].revents != 0 && take_keys((ready[0].revents & POLLIN) != 0) == Go::quit) return;
    if ((ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return;
    if ((ready[2].revents & POLLIN) != 0) {
      std::uint64_t ignored = 0;
      if (read(news.get(), &ignored, sizeof ignored) > 0) is_due = true;
    }
    if (count == 0 && feed_.silent_ns()) is_due = true;
  }
}

}  // namespace

ExitCode run_screen(const TopOptions& options, const tui::Setup& setup, const std::string& setup_path,
                    std::string message) {
  constexpr std::int64_t kOpeningNs = 1'000'000'000, kDriverMayTakeNs = 1'000'000'000;
  auto plan = alert_plan(options.alerts);
  if (!plan) return fail(plan.error());
  auto sampler_options = options.sampler_options();
  if (!sampler_options) return fail(sampler_options.error());
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
    return fail({ExitCode::usage, tr("top needs a terminal for its keys and its screen; --once prints one screen.")});
  }
  sampler_options->wanted.metrics |= metrics_of(plan->rules);
  const std::int64_t interval_ns = sampler_options->interval_ns;
  const Descriptor signals = take_signals();
  const Descriptor news(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int news_fd = news.get();
  tui::FeedOptions feed_options;
  feed_options.sampler = std::move(*sampler_options);
  feed_options.rules = std::move(plan->rules);
  feed_options.source = options.source();
  feed_options.on_news = [news_fd] {
    const std::uint64_t one = 1;
    if (write(news_fd, &one, sizeof one) < 0) return;  // full: it is awake already
  };
  auto feed = std::make_unique<tui::Feed>(std::move(feed_options));
  feed->start();
  const auto leave = [&] {
    if (feed->stop(kDriverMayTakeNs)) return;
    std::fflush(nullptr);
    std::_Exit(
        static_cast<int>(ExitCode::ok));  // the driver never came back from a call; nothing can be ended in order
  };
  // No GPU is a screen that says so and looks again; a wrong word on the command line is not.
  if (const auto error = feed->wait_for_opening(kOpeningNs); error && error->code != ExitCode::machine) {
    leave();
    return fail(*error);
  }
  auto screen = tui::TerminalScreen::open(terminal().colour);
  if (!screen) {
    leave();
    return fail(screen.error());
  }
  ScreenSession session(options, setup, setup_path, *feed, **screen, interval_ns);
  session.say(std::move(message));
  session.run(signals, news);
  screen->reset();  // the terminal comes back before anything else is waited for
  leave();
  return ExitCode::ok;
}

}  // namespace vramscope
