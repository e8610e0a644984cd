#include "report/unusable_memory.h"

#include "report/findings.h"
#include "rules/arguments.h"

namespace vramscope {

std::string unusable_memory_text(const Source& source) {
  const std::int64_t count = unusable_memory_events(source);
  if (count == 0) return {};
  const Message message = unusable_memory(count);
  return sentence(message.id, message.arguments, Wording::chosen_language);
}

}  // namespace vramscope
