// What is left of a pickle that breaks off: containers are closed as if they had ended there.
#include "import/readers/cuda_snapshot/machine.h"

namespace vramscope::pickle {

Value Machine::result() {
  if (depth() == 0) return {};
  if (is_whole_) return store_.resolve(top_[-1]);
  while (!marks_.empty()) {
    std::size_t begin = 0;
    if (pop_mark(begin) != Fault::none) break;
    close_frame(begin);
  }
  return store_.resolve(fold(0));
}

// Joins values that wait for APPEND or SETITEM, each in the container before it: [dict, key, list, list, entry].
// The last one decides; whatever is before a container that wants nothing is complete and dropped here.
Value Machine::fold(std::size_t begin) {
  const Value* const values = stack_.data();
  std::size_t at = depth();
  if (at <= begin) return {};
  --at;
  Value folded = store_.resolve(values[at]);
  while (at > begin) {
    --at;
    const Value outer = store_.resolve(values[at]);
    if (outer.is(Tag::object) && store_.is_list(outer) && store_.kind(outer) != Kind::tuple) {
      // An unfinished dictionary is half an entry, block or segment.
      if (!folded.is_absent() && !store_.is_dict(folded)) store_.append(outer, &folded, 1);
      folded = outer;
    } else if (outer.is(Tag::text) && at > begin && store_.is_dict(store_.resolve(values[at - 1]))) {
      --at;
      const Value dict = store_.resolve(values[at]);
      const Value pair[] = {outer, folded};
      if (!folded.is_absent()) store_.append(dict, pair, 2);
      folded = dict;
    } else {
      folded = outer;
    }
  }
  return folded;
}

// The values above a mark into the container below it.
void Machine::close_frame(std::size_t begin) {
  if (begin == 0) return;
  Value* const items = stack_.data() + begin;
  const auto count = static_cast<std::size_t>(top_ - items);
  const Value target = store_.resolve(items[-1]);
  if (target.is(Tag::object) && store_.is_list(target) && store_.kind(target) != Kind::tuple) {
    store_.append(target, items, count);
    top_ = items;
  } else if (target.is(Tag::object) && store_.is_dict(target)) {
    std::size_t i = 0;
    for (; i + 1 < count; i += 2) {
      Value pair[] = {items[i], store_.resolve(items[i + 1])};
      const bool waits = i + 2 < count && !items[i + 2].is(Tag::text);
      if (waits) pair[1] = fold(begin + i + 1);
      store_.append(target, pair, 2);
      if (waits) break;
    }
    // Not the outermost one: half a block is no block.
    top_ = begin == 1 ? items : items - 1;
  } else {
    top_ = items - 1;
  }
}

}  // namespace vramscope::pickle
