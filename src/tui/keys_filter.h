#pragma once
// Keys while the words of the filter are typed; a part of handle().
#include "tui/ui_state.h"

namespace vramscope::tui {

Action in_filter(UiState& state, const Input& input);

}  // namespace vramscope::tui
