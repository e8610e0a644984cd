// Opcodes that name a class, call a function or ask for an object from elsewhere. A few names stand for plain
// containers and are built here; the rest ends the reading.
#include <iterator>

#include "import/readers/cuda_snapshot/machine.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope::pickle {

namespace {

enum class Callable : std::uint8_t { dict, list, tuple, text, same };

struct Allowed {
  std::string_view module;  // "builtins" stands for "__builtin__" as well
  std::string_view name;
  Callable makes;
};

// What picklers write for plain data. PyTorch's C++ pickler sends typed lists and dictionaries through torch.jit.
constexpr Allowed kAllowed[] = {
    {"collections", "OrderedDict", Callable::dict},
    {"collections", "defaultdict", Callable::dict},
    {"builtins", "dict", Callable::dict},
    {"builtins", "list", Callable::list},
    {"builtins", "set", Callable::list},
    {"builtins", "frozenset", Callable::list},
    {"builtins", "tuple", Callable::tuple},
    {"builtins", "bytearray", Callable::text},
    {"builtins", "bytes", Callable::text},
    {"builtins", "str", Callable::text},
    {"builtins", "int", Callable::same},
    {"builtins", "float", Callable::same},
    {"builtins", "bool", Callable::same},
    {"_codecs", "encode", Callable::text},
    {"torch.jit._pickle", "build_intlist", Callable::same},
    {"torch.jit._pickle", "build_doublelist", Callable::same},
    {"torch.jit._pickle", "build_boollist", Callable::same},
    {"torch.jit._pickle", "restore_type_tag", Callable::same},
};

const Allowed* allowed(Value callable) {
  if (!callable.is(Tag::special) || callable.payload() < kFirstCallable) return nullptr;
  return &kAllowed[callable.payload() - kFirstCallable];
}

}  // namespace

Fault Machine::forbid(std::string name) {
  constexpr std::size_t kMostShown = 200;
  asked_for_ = printable(std::string_view(name).substr(0, kMostShown));
  return Fault::forbidden;
}

Fault Machine::push_callable(std::string_view module, std::string_view name) {
  const std::string_view home = module == "__builtin__" ? "builtins" : module;
  for (std::size_t i = 0; i < std::size(kAllowed); ++i) {
    if (kAllowed[i].module == home && kAllowed[i].name == name) return push({Tag::special, kFirstCallable + i});
  }
  return forbid(std::string(module) + "." + std::string(name));
}

// Replaces the top value, the arguments, and the callable below it by what is built.
Fault Machine::call(Value callable, Value arguments) {
  const Allowed* known = allowed(callable);
  if (known == nullptr) return forbid(tr(N_("an object of the file as a function")));
  arguments = store_.resolve(arguments);
  if (!store_.is_list(arguments)) return Fault::wrong_type;
  const Items items = store_.items(arguments);
  const Value first = items.size > 0 ? store_.resolve(items.data[0]) : Value{};
  Value made;
  switch (known->makes) {
    // defaultdict's argument is a callable; the others may get a list of pairs.
    case Callable::dict: {
      made = store_.make(Kind::empty_dict);
      const Items pairs = store_.items(first);
      if (store_.is_dict(first)) {
        if (!store_.append(made, pairs.data, pairs.size)) return Fault::too_many_items;
      } else {
        for (const Value& pair : pairs) {
          const Items both = store_.items(store_.resolve(pair));
          if (both.size == 2 && !store_.append(made, both.data, 2)) return Fault::too_many_items;
        }
      }
      break;
    }
    case Callable::list:
    case Callable::tuple:
      made = first.is_absent() ? store_.make(Kind::empty_list) : first;
      break;
    case Callable::text:
      made = first.is(Tag::text) ? first : store_.text("");
      break;
    case Callable::same:
      made = first.is_absent() ? kNothing : first;
      break;
  }
  return push(made);
}

Fault Machine::run_call(unsigned char code) {
  std::string_view module;
  std::string_view name;
  switch (code) {
    case 'c':
    case 'i': {
      if (const Fault fault = take_line(module); fault != Fault::none) return fault;
      const std::string kept(module);  // the window may move
      if (const Fault fault = take_line(name); fault != Fault::none) return fault;
      if (const Fault fault = push_callable(kept, name); fault != Fault::none || code == 'c') return fault;
      const Value callable = *--top_;
      std::size_t begin = 0;
      if (const Fault fault = pop_mark(begin); fault != Fault::none) return fault;
      if (const Fault fault = make_tuple(begin); fault != Fault::none) return fault;
      return call(callable, *--top_);
    }
    case 0x93: {  // STACK_GLOBAL
      if (!has(2)) return Fault::stack_empty;
      top_ -= 2;
      if (!top_[0].is(Tag::text) || !top_[1].is(Tag::text)) return Fault::wrong_type;
      return push_callable(store_.text_of(top_[0]), store_.text_of(top_[1]));
    }
    case 'R':
    case 0x81: {  // REDUCE, NEWOBJ
      if (!has(2)) return Fault::stack_empty;
      top_ -= 2;
      return call(top_[0], top_[1]);
    }
    case 'o': {  // OBJ
      std::size_t begin = 0;
      if (const Fault fault = pop_mark(begin); fault != Fault::none) return fault;
      if (depth() == begin) return Fault::stack_empty;
      if (const Fault fault = make_tuple(begin + 1); fault != Fault::none) return fault;
      top_ -= 2;
      return call(top_[0], top_[1]);
    }
    case 'P': {
      if (const Fault fault = take_line(name); fault != Fault::none) return fault;
      return forbid(tr(N_("a persistent object")));
    }
    case 'Q':
      return forbid(tr(N_("a persistent object")));
    case 0x82:
    case 0x83:
    case 0x84:
      return forbid(tr(N_("an extension code")));
    case 'b':
      return forbid(tr(N_("the state of an object")));
    case 0x97:
    case 0x98:
      return forbid(tr(N_("a buffer outside the file")));
    default:
      return forbid(tr(N_("a class with named arguments")));
  }
}

}  // namespace vramscope::pickle
