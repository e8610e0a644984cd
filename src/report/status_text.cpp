#include <algorithm>
#include <cmath>

#include "base/saturate.h"
#include "fmt/format.h"
#include "report/blind_spots.h"
#include "report/findings.h"
#include "report/phrases.h"
#include "report/process_words.h"
#include "report/smi_text.h"
#include "report/status.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/width.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr double kHigh = 0.9;
constexpr double kQuiteHigh = 0.75;
constexpr std::size_t kBarColumns = 12;

std::string not_known() {
  return tr("N/A");
}

std::string with_unit(const DeviceSample& device, Metric metric, std::int64_t divisor, std::string_view unit) {
  const auto number = device.number(metric);
  return number ? fmt::format("{} {}", (*number + divisor / 2) / divisor, unit) : not_known();
}

std::optional<double> share_of_memory(const DeviceSample& device) {
  const auto total = device.number(Metric::memory_total);
  const auto used = device.number(Metric::memory_used);
  if (!total || *total <= 0 || !used) return std::nullopt;
  return std::clamp(static_cast<double>(*used) / static_cast<double>(*total), 0.0, 1.0);
}

std::string bar(std::optional<double> share) {
  if (!share) return {};
  const auto full = static_cast<std::size_t>(std::lround(*share * static_cast<double>(kBarColumns)));
  std::string text;
  for (std::size_t i = 0; i < kBarColumns; ++i) {
    if (terminal().utf8) {
      text += i < full ? "█" : "░";
    } else {
      text += i < full ? '#' : '.';
    }
  }
  const Colour colour = *share > kHigh ? Colour::red : *share > kQuiteHigh ? Colour::yellow : Colour::green;
  return paint(text, colour);
}

std::string memory_cell(const DeviceSample& device) {
  const auto total = device.number(Metric::memory_total);
  const auto used = device.number(Metric::memory_used);
  if (device.is_lost) return paint(tr("lost"), Colour::red);
  if (!total && !used) return not_known();
  if (!total) return format_bytes(*used);
  return filled(tr("{used} of {total}"), fmt::arg("used", used ? format_bytes(*used) : not_known()),
                fmt::arg("total", format_bytes(*total)));
}

std::string power_cell(const DeviceSample& device) {
  const auto draw = device.number(Metric::power_draw);
  const auto limit = device.number(Metric::enforced_power_limit);
  if (!draw) return not_known();
  const auto watts = [](std::int64_t milliwatts) { return (milliwatts + 500) / 1000; };
  return limit ? fmt::format("{}/{} W", watts(*draw), watts(*limit)) : fmt::format("{} W", watts(*draw));
}

std::string devices_table(const LiveSample& sample) {
  TextTable table;
  table.columns = {{tr("GPU"), Align::left},
                   {tr("name"), Align::left, Shrink::middle, 1, 10},
                   {tr("memory"), Align::left, Shrink::no},
                   {"", Align::left, Shrink::no, 4},  // the bar repeats the memory
                   {tr("busy"), Align::right},
                   {tr("memory busy"), Align::right, Shrink::no, 5},
                   {tr("temp"), Align::right, Shrink::no, 2},
                   {tr("power"), Align::right, Shrink::no, 3}};
  for (const DeviceSample& device : sample.devices()) {
    const bool is_mig = device.parent.has_value();
    const auto cell = [&](std::string text) { return is_mig && text == not_known() ? std::string() : text; };
    const std::string_view name = device.text(Metric::name);
    table.rows.push_back({device_label(sample, device), cell(name.empty() ? not_known() : printable(name)),
                          memory_cell(device), device.is_lost ? std::string() : bar(share_of_memory(device)),
                          cell(with_unit(device, Metric::utilization_gpu, 1, "%")),
                          cell(with_unit(device, Metric::utilization_memory, 1, "%")),
                          cell(with_unit(device, Metric::temperature_gpu, 1, "°C")), cell(power_cell(device))});
  }
  return render(table, table_columns());
}

std::string age_of(const HostProcess* host) {
  return host == nullptr ? not_known() : age_text(host->age_ns);
}

std::string state_of(const HostProcess* host) {
  if (host == nullptr) return not_known();
  const std::string word = state_word(host->presence, host->process.state);
  if (host->presence != Presence::seen) return word;
  const ProcessTrouble trouble = state_trouble(host->process.state);
  if (trouble == ProcessTrouble::none) return word;
  return paint(word, trouble == ProcessTrouble::dead ? Colour::red : Colour::yellow);
}

std::vector<std::string> process_row(const LiveSample& sample, const DeviceSample& device,
                                     const DeviceProcess& process) {
  const HostProcess* host = sample.find(process.pid);
  const bool is_seen = host != nullptr && host->presence == Presence::seen;
  const auto percent = [](std::optional<std::int64_t> share) {
    return share ? fmt::format("{} %", *share) : not_known();
  };
  std::optional<std::int64_t> cpu;
  if (is_seen && host->process.cpu_percent) cpu = std::llround(*host->process.cpu_percent);
  const std::string_view name = host == nullptr ? std::string_view() : shown_name(*host);
  const std::string command = name.empty() ? not_known() : printable(name);
  return {std::to_string(device.index),
          std::to_string(process.pid),
          is_seen && host->process.user && !host->process.user->empty() ? printable(*host->process.user) : not_known(),
          std::string(smi_process_type(process)),
          process.used_bytes ? format_bytes(*process.used_bytes) : not_known(),
          percent(process.sm_percent),
          percent(cpu),
          is_seen && host->process.rss_bytes ? format_bytes(*host->process.rss_bytes) : not_known(),
          age_of(host),
          state_of(host),
          command};
}

// A column that says nothing is left out.
void drop_unknown_columns(TextTable& table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    const bool is_known =
        std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return row[i] != not_known(); });
    if (is_known) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::string processes_table(const LiveSample& sample, const StatusOptions& options) {
  TextTable table;
  table.columns = {{tr("GPU"), Align::left},
                   {tr("pid"), Align::right},
                   {tr("user"), Align::left, Shrink::end, 3, 5},
                   {tr("type"), Align::left, Shrink::no, 7},
                   {tr("memory"), Align::right},
                   {tr("SM"), Align::right, Shrink::no, 4},
                   {tr("CPU"), Align::right, Shrink::no, 5},
                   {tr("host memory"), Align::right, Shrink::no, 8},
                   {tr("age"), Align::right, Shrink::no, 6},
                   {tr("state"), Align::left, Shrink::no, 2},
                   {tr("command"), Align::left, Shrink::middle, 1, 12}};
  std::size_t left_out = 0;
  for (const DeviceSample& device : sample.devices()) {
    std::vector<const DeviceProcess*> processes;
    for (const DeviceProcess& process : device.processes) processes.push_back(&process);
    std::stable_sort(processes.begin(), processes.end(), [](const DeviceProcess* a, const DeviceProcess* b) {
      return a->used_bytes.value_or(-1) > b->used_bytes.value_or(-1);
    });
    if (options.most_processes != 0 && processes.size() > options.most_processes) {
      left_out += processes.size() - options.most_processes;
      processes.resize(options.most_processes);
    }
    for (const DeviceProcess* process : processes) table.rows.push_back(process_row(sample, device, *process));
  }
  if (table.rows.empty()) return wrap(tr("No process uses a GPU, as far as can be seen from here."), line_columns());
  drop_unknown_columns(table);
  std::string text = render(table, table_columns());
  if (left_out > 0) {
    text += wrap(counted(NN_("{count} more process with less memory; --all shows them.",
                             "{count} more processes with less memory; --all shows them."),
                         static_cast<std::int64_t>(left_out)),
                 line_columns());
  }
  return text;
}

// What cannot be listed, and why.
std::string missing_lists(const LiveSample& sample) {
  std::string text;
  for (const BlindSpot& spot : blind_spots(sample)) {
    if (spot.what != BlindSpot::What::memory) continue;
    const bool is_forbidden = spot.why == ValueState::no_permission;
    text += wrap(filled(is_forbidden ? tr("GPU {gpu}: the driver does not let you see its memory; look as root, or ask "
                                          "whoever runs this machine or container for access to the device.")
                                     : tr("GPU {gpu}: the driver cannot tell its memory just now (error {code}); look "
                                          "again, and at the kernel's log (`sudo dmesg`) if it stays so."),
                        fmt::arg("gpu", spot.gpu), fmt::arg("code", spot.driver_code)),
                 line_columns());
  }
  for (const DeviceSample& device : sample.devices()) {
    if (device.parent || device.is_lost) continue;
    const char* why = nullptr;
    if (device.processes_state == ValueState::no_permission) {
      why = tr("GPU {gpu}: its processes are not for you to see; look as root.");
    } else if (device.processes_state == ValueState::not_supported || device.processes_state == ValueState::failed) {
      why = tr("GPU {gpu}: the driver does not tell its processes.");
    }
    if (why != nullptr) text += wrap(filled(why, fmt::arg("gpu", device.index)), line_columns());
  }
  // The same for all devices that are looked at in this way.
  std::int64_t unreadable = 0;
  for (const DeviceSample& device : sample.devices()) unreadable = std::max(unreadable, device.unreadable_processes);
  if (unreadable > 0) {
    text += wrap(counted(NN_("{count} process of another user may use a GPU too and is not for you to see; look as "
                             "root (or with CAP_SYS_PTRACE).",
                             "{count} processes of other users may use a GPU too and are not for you to see; look as "
                             "root (or with CAP_SYS_PTRACE)."),
                         unreadable),
                 line_columns());
  }
  return text;
}

std::string of_total(std::optional<std::int64_t> used, std::optional<std::int64_t> total) {
  if (!used && !total) return not_known();
  if (!total) return format_bytes(*used);
  return filled(tr("{used} out of {total}"), fmt::arg("used", used ? format_bytes(*used) : not_known()),
                fmt::arg("total", format_bytes(*total)));
}

// What the tables have no column for.
std::string device_notes(const LiveSample& sample) {
  std::string text;
  for (const DeviceSample& device : sample.devices()) {
    const auto say = [&](const std::string& words) { text += wrap(words, line_columns()); };
    const auto number = [&](Metric metric) { return device.number(metric); };
    if (device.is_lost) continue;
    if (device.text(Metric::power_state) == "suspended") {
      say(filled(tr("GPU {gpu} sleeps and is left alone: to ask it would wake it up."), fmt::arg("gpu", device.index)));
      continue;
    }
    const std::string system = of_total(number(Metric::memory_system_used), number(Metric::memory_system_total));
    if (number(Metric::memory_carved_total)) {
      say(filled(tr("GPU {gpu} works in the machine's memory: {carved} set aside for it, {system} borrowed."),
                 fmt::arg("gpu", device.index),
                 fmt::arg("carved", of_total(number(Metric::memory_carved_used), number(Metric::memory_carved_total))),
                 fmt::arg("system", system)));
    } else if (number(Metric::memory_system_used).value_or(0) > 0) {
      say(filled(tr("GPU {gpu} has {system} of the machine's memory besides."), fmt::arg("gpu", device.index),
                 fmt::arg("system", system)));
    }
    std::int64_t held = 0, shared = 0, evicted = 0;
    for (const DeviceProcess& process : device.processes) {
      held = saturating_add(held, process.used_bytes.value_or(0));
      shared = saturating_add(shared, process.shared_bytes.value_or(0));
      evicted = saturating_add(evicted, process.evicted_bytes.value_or(0));
    }
    if (held > 0 && !number(Metric::memory_used)) {
      say(filled(tr("GPU {gpu}: the driver does not tell how much memory is in use; the processes above hold {held}."),
                 fmt::arg("gpu", device.index), fmt::arg("held", format_bytes(held))));
    }
    if (shared > 0) {
      say(filled(tr("GPU {gpu}: {shared} of what its processes hold are in buffers that several of them share."),
                 fmt::arg("gpu", device.index), fmt::arg("shared", format_bytes(shared))));
    }
    if (evicted > 0) {
      say(filled(tr("GPU {gpu}: {evicted} had to leave its memory for lack of room."), fmt::arg("gpu", device.index),
                 fmt::arg("evicted", format_bytes(evicted))));
    }
  }
  if (sample.missing_backends == nullptr) return text;
  for (const MissingBackend& missing : *sample.missing_backends) {
    text += wrap(filled(tr("Not shown: the devices of {kind}. {why}"), fmt::arg("kind", missing.name),
                        fmt::arg("why", missing.error.message)),
                 line_columns());
  }
  return text;
}

std::string heading(const LiveSample& sample) {
  if (sample.devices().empty()) return {};
  const DeviceSample& first = sample.devices().front();
  std::string text;
  const std::string_view driver = first.text(Metric::driver_version);
  const std::string_view cuda = first.text(Metric::cuda_version);
  if (!driver.empty()) text += filled(tr("driver {version}"), fmt::arg("version", printable(driver)));
  if (!cuda.empty())
    text += (text.empty() ? "" : ", ") + filled(tr("CUDA {version}"), fmt::arg("version", printable(cuda)));
  return text.empty() ? text : wrap(text, line_columns()) + "\n";
}

std::string evidence_line(const Finding& finding) {
  std::string text;
  for (const Evidence& evidence : finding.evidence) {
    std::string part = filled(tr("{what}: {value}"),
                              fmt::arg("what", sentence(evidence.what, finding.arguments, Wording::chosen_language)),
                              fmt::arg("value", shown(evidence.value, Wording::chosen_language)));
    const std::string where = sentence(evidence.where.id, evidence.where.arguments, Wording::chosen_language);
    if (!where.empty()) part += " (" + where + ")";
    text += (text.empty() ? "" : "; ") + printable(part);
  }
  return text;
}

}  // namespace

std::string verdicts_text(const std::vector<Verdict>& verdicts) {
  constexpr std::size_t kWidest = 100;
  const std::size_t columns = std::min(line_columns(), kWidest);
  std::string text;
  for (const Verdict& verdict : verdicts) {
    const Finding& finding = verdict.finding;
    const auto words = [&](const char* id) {
      return printable(sentence(id, finding.arguments, Wording::chosen_language));
    };
    if (!text.empty()) text += "\n";
    text += wrap(severity_label(finding.severity) + "  " + paint(words(finding.title), Colour::bold), columns, 0, 2);
    text += wrap(words(finding.summary), columns, 2);
    const std::string evidence = evidence_line(finding);
    if (!evidence.empty()) text += wrap(evidence, columns, 2);
    text += wrap(filled(tr("What to do: {fix}"), fmt::arg("fix", words(finding.fix))), columns, 2);
  }
  return text;
}

std::string status_text(const LiveSample& sample, const std::vector<Verdict>& verdicts, const StatusOptions& options) {
  if (sample.devices().empty() && verdicts.empty()) {
    return heading(sample) + missing_lists(sample) + device_notes(sample) +
           wrap(tr("No GPU was looked at, so nothing can be said of one."), line_columns());
  }
  std::string text = heading(sample) + devices_table(sample) + "\n" + processes_table(sample, options) +
                     missing_lists(sample) + device_notes(sample) + "\n";
  if (verdicts.empty()) {
    const bool is_all_seen = blind_spots(sample).empty() && sample.missing_backends == nullptr;
    return text + wrap(is_all_seen ? tr("Nothing wrong was found.")
                                   : tr("Nothing wrong was found in what could be "
                                        "seen."),
                       line_columns());
  }
  return text + verdicts_text(verdicts);
}

}  // namespace vramscope
