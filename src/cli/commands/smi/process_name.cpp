#include "cli/commands/smi/process_name.h"

#include "report/smi_csv.h"
#include "system/files.h"

namespace vramscope {

std::string smi_process_name(DeviceSource& source, const DeviceProcess& process) {
  if (process.host) return process.host->name;
  const Result<std::string> name = source.process_name(process.pid);
  if (name) return name->empty() ? "-" : *name;
  if (const int code = name.error().driver_code; code != 0) return "[" + std::string(smi_code_words(code)) + "]";
  const auto command = read_file("/proc/" + std::to_string(process.pid) + "/cmdline");
  if (!command || command->empty()) return "[Not Found]";
  return command->substr(0, command->find('\0'));
}

}  // namespace vramscope
