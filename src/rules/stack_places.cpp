#include "rules/stack_places.h"

#include <string>
#include <vector>

#include "analysis/allocator_live.h"
#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

Message where_stack(const Source& source, StackId stack) {
  StringId frame = stack == 0 ? 0 : user_frame(source, stack);
  if (frame == 0 && stack != 0) {
    const std::vector<StringId> frames = readable_frames(source, stack);
    if (!frames.empty()) frame = frames.front();
  }
  if (frame == 0) return {N_("no stack was recorded"), {}};
  return where_named(std::string(source.trace.strings.view(frame)));
}

}  // namespace vramscope
