// The opcodes of pickles: numbers at their edges, texts, the memo, what is refused and what a cut leaves.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "import/readers/cuda_snapshot/literals.h"
#include "import/readers/cuda_snapshot/machine.h"

namespace vramscope::pickle {
namespace {

using namespace std::string_literals;

class KeepsAll : public Shrinker {
 public:
  Value shrink_list(const Value*, std::size_t, std::int64_t) override { return {}; }
  Value shrink_dict(const Value*, std::size_t, std::int64_t) override { return {}; }
};

// One pickle, run to its end.
class Pickled {
 public:
  explicit Pickled(const std::string& bytes, std::size_t piece = 3)
      : stream_(memory_stream(bytes, piece)), window_(*stream_, no_progress_), machine_(window_, store, keeps_) {
    fault = machine_.run();
    if (!is_refusal(fault)) value = machine_.result();
  }
  std::int64_t integer() const { return store.as_int64(value).value_or(kUnknown); }
  std::string_view text() const { return store.text_of(value); }
  Items items() const { return store.items(value); }
  const Machine& machine() const { return machine_; }

 private:
  std::unique_ptr<ByteStream> stream_;
  Progress no_progress_;
  KeepsAll keeps_;
  Window window_;

 public:
  Store store;
  Fault fault = Fault::none;
  Value value;

 private:
  Machine machine_;
};

TEST(Pickle, WholeNumbersOfEveryOpcode) {
  const std::pair<std::string, std::int64_t> cases[] = {
      {"K\xff."s, 255},
      {"M\xff\xff."s, 65535},
      {"J\xff\xff\xff\xff."s, -1},
      {"J\x00\x00\x00\x80."s, -2147483648LL},
      {"\x8a\x00."s, 0},
      {"\x8a\x01\xff."s, -1},
      {"\x8a\x02\xff\x00."s, 255},
      {"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x10."s, std::int64_t{1} << 60},
      {"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x0f."s, (std::int64_t{1} << 60) - 1},
      {"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."s, std::numeric_limits<std::int64_t>::max()},
      {"\x8b\x01\x00\x00\x00\x80."s, -128},
      {"I-12\n."s, -12},
      {"I01\n."s, 1},
      {"L123456789012345L\n."s, 123456789012345},
      {"L-1L\n."s, -1},
      {"\x88."s, 1},
  };
  for (const auto& [bytes, wanted] : cases) {
    const Pickled run(bytes);
    EXPECT_EQ(run.fault, Fault::stopped);
    EXPECT_EQ(run.integer(), wanted) << wanted;
  }
}

TEST(Pickle, AddressesKeepAllSixtyFourBits) {
  const Pickled large("\x8a\x09\xfe\xff\xff\xff\xff\xff\xff\xff\x00."s);
  EXPECT_EQ(large.store.as_address(large.value), 0xfffffffffffffffeu);
  EXPECT_EQ(large.integer(), std::numeric_limits<std::int64_t>::max());
  const Pickled text("L18446744073709551614L\n."s);
  EXPECT_EQ(text.store.as_address(text.value), 0xfffffffffffffffeu);
  // What a signed field makes of the same address.
  const Pickled negative("\x8a\x01\xfe."s);
  EXPECT_EQ(negative.store.as_address(negative.value), 0xfffffffffffffffeu);
  const Pickled beyond("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s);
  EXPECT_EQ(beyond.store.as_address(beyond.value), std::nullopt);
  EXPECT_EQ(beyond.integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(beyond.store.number_of(beyond.value)->is_clamped);
  const Pickled least("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff."s);
  EXPECT_TRUE(least.store.number_of(least.value)->is_clamped);
  EXPECT_LT(least.integer(), 0);
}

TEST(Pickle, FloatsOfBothKinds) {
  const Pickled binary("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s);
  EXPECT_EQ(binary.store.number_of(binary.value)->real, 1.5);
  const Pickled text("F1.5\n."s);
  EXPECT_EQ(text.store.number_of(text.value)->real, 1.5);
  EXPECT_EQ(text.store.as_int64(text.value), std::nullopt);
  EXPECT_EQ(Pickled("Fx\n."s).fault, Fault::bad_operand);
}

TEST(Pickle, TextsOfEveryOpcode) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"\x8c\x03"s + "abc.", "abc"},
      {"X\x03\x00\x00\x00"s + "abc.", "abc"},
      {"\x8d\x03\x00\x00\x00\x00\x00\x00\x00"s + "abc.", "abc"},
      {"C\x01z."s, "z"},
      {"B\x01\x00\x00\x00z."s, "z"},
      {"\x8e\x01\x00\x00\x00\x00\x00\x00\x00z."s, "z"},
      {"\x96\x01\x00\x00\x00\x00\x00\x00\x00z."s, "z"},
      {"U\x02hi."s, "hi"},
      {"T\x02\x00\x00\x00hi."s, "hi"},
      {"S'it\\'s\\x41'\n."s, "it'sA"},
      {"Va\\u4e2d\xe9\n."s, "a\xe4\xb8\xad\xc3\xa9"},
      {"V\\U0001f600\n."s, "\xf0\x9f\x98\x80"},
      {"S''\n."s, ""},
  };
  for (const auto& [bytes, wanted] : cases) {
    const Pickled run(bytes);
    EXPECT_EQ(run.fault, Fault::stopped) << wanted;
    EXPECT_TRUE(run.value.is(Tag::text)) << wanted;
    EXPECT_EQ(run.text(), wanted);
  }
  EXPECT_EQ(Pickled("S'open\n."s).fault, Fault::bad_operand);
  EXPECT_EQ(Pickled("V\\uzzzz\n."s).fault, Fault::bad_operand);
}

TEST(Pickle, TextLongerThanAPiece) {
  const std::string long_text(100'000, 'x');
  const std::string bytes = "X\xa0\x86\x01\x00"s + long_text + ".";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4096}})
    EXPECT_EQ(Pickled(bytes, piece).text(), long_text);
}

TEST(Pickle, ContainersOfProtocolZeroAndOfLaterOnes) {
  for (const std::string& bytes :
       {"(lp0\nI1\naI2\na."s, "]\x94(K\x01K\x02"s + "e.", "]K\x01"s + "aK\x02"s + "a.", "(K\x01K\x02l."s,
        "(K\x01K\x02t."s, "K\x01K\x02\x86."s, "\x8f(K\x01K\x02\x90."s, "(K\x01K\x02\x91."s}) {
    const Pickled run(bytes);
    EXPECT_EQ(run.fault, Fault::stopped);
    ASSERT_EQ(run.items().size, 2u);
    EXPECT_EQ(run.items().data[1], Value::integer(2));
  }
  for (const std::string& bytes :
       {"(dp0\nVsize\np1\nI7\ns."s, "}(\x8c\x04sizeK\x07u."s, "(\x8c\x04sizeK\x07"s + "d."}) {
    const Pickled run(bytes);
    EXPECT_TRUE(run.store.is_dict(run.value));
    EXPECT_EQ(Store::find(run.items(), Key::size), Value::integer(7));
  }
}

TEST(Pickle, TheLastOfEqualKeysCounts) {
  const Pickled run("}(\x8c\x04sizeK\x07\x8c\x04sizeK\x08u."s);
  EXPECT_EQ(Store::find(run.items(), Key::size), Value::integer(8));
}

TEST(Pickle, MemoInOrderFarAndMissing) {
  EXPECT_EQ(Pickled("K\x05q\x00"s + "0h\x00."s).integer(), 5);
  EXPECT_EQ(Pickled("K\x05r\xff\xff\xff\x7f"s + "0j\xff\xff\xff\x7f."s).integer(), 5);
  EXPECT_EQ(Pickled("K\x05p4000000000000\n0g4000000000000\n."s).integer(), 5);
  EXPECT_EQ(Pickled("K\x05\x94K\x06\x94"s + "00h\x01."s).integer(), 6);
  EXPECT_EQ(Pickled("h\x00."s).fault, Fault::no_such_memo);
  EXPECT_EQ(Pickled("g-1\n."s).fault, Fault::bad_operand);
  EXPECT_EQ(Pickled("q\x00."s).fault, Fault::stack_empty);
}

TEST(Pickle, AListThatHoldsItselfIsRead) {
  const Pickled run("]\x94(h\x00K\x01"s + "e.");
  ASSERT_EQ(run.items().size, 2u);
  EXPECT_EQ(run.items().data[0], run.value);
}

TEST(Pickle, StackAndMarksAreChecked) {
  EXPECT_EQ(Pickled("."s).fault, Fault::stack_empty);
  EXPECT_EQ(Pickled("0."s).fault, Fault::stack_empty);
  EXPECT_EQ(Pickled("e."s).fault, Fault::no_mark);
  EXPECT_EQ(Pickled("(K\x01"s + "e.").fault, Fault::stack_empty);
  EXPECT_EQ(Pickled("](e."s).fault, Fault::stopped);
  EXPECT_EQ(Pickled("](a."s).fault, Fault::stack_empty) << "a mark hides what is below it";
  EXPECT_EQ(Pickled("K\x01(K\x02"s + "e.").fault, Fault::wrong_type);
  EXPECT_EQ(Pickled("}(K\x01u."s).fault, Fault::stack_empty) << "a key without its value";
  EXPECT_EQ(Pickled("K\x01((K\x02\x31\x30."s).integer(), 1) << "POP takes a mark when that is on top";
  EXPECT_EQ(Pickled("\xff."s).fault, Fault::unknown_opcode);
  EXPECT_EQ(Pickled("\x80\x06N."s).fault, Fault::bad_operand);
}

TEST(Pickle, PlainContainersOfTheAllowList) {
  EXPECT_TRUE(Pickled("\x80\x02"
                      "ccollections\nOrderedDict\n)R."s)
                  .store.strings.size() > 0);
  const Pickled ordered("ccollections\nOrderedDict\n)R(\x8c\x04sizeK\x07u."s);
  EXPECT_EQ(Store::find(ordered.items(), Key::size), Value::integer(7));
  const Pickled pairs("ccollections\nOrderedDict\n]\x8c\x04sizeK\x07\x86"s + "a\x85R.");
  EXPECT_EQ(Store::find(pairs.items(), Key::size), Value::integer(7));
  const Pickled set("c__builtin__\nset\n](K\x01K\x02"s + "e\x85R.");
  EXPECT_EQ(set.items().size, 2u);
  const Pickled ints("ctorch.jit._pickle\nbuild_intlist\n](K\x01K\x02"s + "e\x85R.");
  EXPECT_EQ(ints.items().size, 2u);
  const Pickled tagged("ctorch.jit._pickle\nrestore_type_tag\n(](K\x01"s + "eX\x09\x00\x00\x00List[int]tR."s);
  EXPECT_EQ(tagged.items().size, 1u);
  const Pickled stack_global("\x8c\x0b"s + "collections\x8c\x0bOrderedDict\x93)R.");
  EXPECT_TRUE(stack_global.store.is_dict(stack_global.value));
  const Pickled bytes("c_codecs\nencode\nVabc\nVlatin1\n\x86R."s);
  EXPECT_EQ(bytes.text(), "abc");
}

TEST(Pickle, AllElseIsRefusedByName) {
  struct Case {
    std::string bytes;
    std::string name;
    std::string opcode;
    std::int64_t offset;
  };
  const Case cases[] = {
      {"cos\nsystem\nVid\n\x85R."s, "os.system", "GLOBAL", 0},
      {"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R."s, "os.system", "STACK_GLOBAL", 14},
      {"(Vid\nios\nsystem\n."s, "os.system", "INST", 5},
      {"Pabc\n."s, "a persistent object", "PERSID", 0},
      {"NQ."s, "a persistent object", "BINPERSID", 1},
      {"\x82\x01."s, "an extension code", "EXT1", 0},
      {"\x84\x01\x00\x00\x00."s, "an extension code", "EXT4", 0},
      {"}Nb."s, "the state of an object", "BUILD", 2},
      {"N)R."s, "an object of the file as a function", "REDUCE", 2},
      {"N)\x81."s, "an object of the file as a function", "NEWOBJ", 2},
      {"(N)o."s, "an object of the file as a function", "OBJ", 3},
      {"N)}\x92."s, "a class with named arguments", "NEWOBJ_EX", 3},
      {"\x97."s, "a buffer outside the file", "NEXT_BUFFER", 0},
  };
  for (const Case& one : cases) {
    const Pickled run(one.bytes);
    EXPECT_EQ(run.fault, Fault::forbidden) << one.opcode;
    EXPECT_EQ(run.machine().asked_for(), one.name);
    EXPECT_EQ(opcode_name(run.machine().opcode()), one.opcode);
    EXPECT_EQ(run.machine().offset(), one.offset) << one.opcode;
  }
}

TEST(Pickle, ClaimedLengthsCostNothing) {
  EXPECT_EQ(Pickled("\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"s + "abc").fault, Fault::too_long);
  EXPECT_EQ(Pickled("\x8e\x00\x00\x00\x00\x00\x00\x00\x80"s + "abc").fault, Fault::too_long);
  EXPECT_EQ(Pickled("X\xff\xff\xff\x03"s + "abc").fault, Fault::cut);
  EXPECT_EQ(Pickled("\x8b\xff\xff\xff\xff"s + "abc").fault, Fault::bad_operand);
  EXPECT_EQ(Pickled("\x95\xff\xff\xff\xff\xff\xff\xff\xff"s + "K\x01.").integer(), 1) << "frames are no limits";
}

TEST(Pickle, DepthIsBounded) {
  EXPECT_EQ(Pickled(std::string(2'000'000, '('), 65536).fault, Fault::too_many_marks);
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "](";
  EXPECT_EQ(Pickled(deep, 65536).fault, Fault::too_many_marks);
  EXPECT_EQ(Pickled(std::string(Machine::kMostValues + 1, 'N'), 65536).fault, Fault::too_deep);
  EXPECT_EQ(Pickled("N" + std::string(Machine::kMostValues, '2'), 65536).fault, Fault::too_deep);
}

TEST(Pickle, ACutLeavesWhatWasWhole) {
  // {"segments": [1, 2 …
  const Pickled batch("}\x94(\x8c\x08segments]\x94(K\x01K\x02"s);
  EXPECT_EQ(batch.fault, Fault::cut);
  EXPECT_EQ(batch.store.items(Store::find(batch.items(), Key::segments)).size, 2u);
  // {"segments": [[1, 2 … where the outer list waits for APPEND
  const Pickled nested("}(\x8c\x08segments]](K\x01K\x02"s);
  const Items outer = nested.store.items(Store::find(nested.items(), Key::segments));
  ASSERT_EQ(outer.size, 1u);
  EXPECT_EQ(nested.store.items(outer.data[0]).size, 2u);
  // Protocol 0 has no marks; the unfinished dictionary in the list is left out.
  const Pickled old("(dVsegments\n(lI1\na(dVsize\nI3\ns"s);
  const Items kept = old.store.items(Store::find(old.items(), Key::segments));
  ASSERT_EQ(kept.size, 1u);
  EXPECT_EQ(kept.data[0], Value::integer(1));
}

TEST(Pickle, OperandsCutAnywhere) {
  const std::string bytes =
      "\x80\x04\x8a\x08\x01\x02\x03\x04\x05\x06\x07\x08M\x01\x02J\x01\x02\x03\x04\x8c\x03"s + "abc\x87.";
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Pickled(bytes.substr(0, size)).fault, Fault::cut) << size;
  }
  EXPECT_EQ(Pickled(bytes).fault, Fault::stopped);
}

}  // namespace
}  // namespace vramscope::pickle
