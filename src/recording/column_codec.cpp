#include "recording/column_codec.h"

#include <algorithm>
#include <array>

#include "recording/little_endian.h"

namespace vramscope::recording {

namespace {

// Differences wrap around at 2^64, so that every pair of values has one.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0);
}
std::int64_t unzigzag(std::uint64_t bits) {
  return static_cast<std::int64_t>((bits >> 1) ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
}

std::size_t varint_bytes(std::uint64_t bits) {
  return bits < 128 ? 1 : (static_cast<std::size_t>(64 - __builtin_clzll(bits)) + 6) / 7;
}
void append_varint(std::string& out, std::uint64_t bits) {
  for (; bits >= 128; bits >>= 7) out.push_back(static_cast<char>(0x80 | (bits & 0x7F)));
  out.push_back(static_cast<char>(bits));
}
void append_signed(std::string& out, std::int64_t value) {
  append_varint(out, zigzag(value));
}

// Takes varints from the front of a text; `failed` stays set once one was cut or too long.
struct VarintInput {
  std::string_view bytes;
  bool failed = false;

  std::uint64_t take() {
    std::uint64_t bits = 0;
    for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      bits |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 128) return bits;
    }
    failed = true;
    return 0;
  }
  std::int64_t take_signed() { return unzigzag(take()); }
};

// Bytes that each encoding would take; constant: none unless all values are the same.
std::array<std::size_t, 6> encoded_bytes(const std::vector<std::int64_t>& values) {
  std::array<std::size_t, 6> bytes{values.size() * 8, SIZE_MAX, 0, 0, 0, 0};
  std::int64_t before = 0;
  std::int64_t step_before = 0;
  std::size_t run = 0;
  bool same = !values.empty();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t step = difference(values[i], before);
    bytes[2] += varint_bytes(zigzag(values[i]));
    bytes[3] += varint_bytes(zigzag(step));
    bytes[4] += varint_bytes(zigzag(difference(step, step_before)));
    if (i > 0 && step == 0) {
      ++run;
    } else {
      if (i > 0) bytes[5] += varint_bytes(run);
      bytes[5] += varint_bytes(zigzag(step));
      run = 0;
      same = same && i == 0;
    }
    before = values[i];
    step_before = step;
  }
  if (!values.empty()) bytes[5] += varint_bytes(run);
  if (same) bytes[1] = varint_bytes(zigzag(values[0]));
  return bytes;
}

void encode_runs(const std::vector<std::int64_t>& values, std::string& out) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[i]) ++end;
    append_signed(out, difference(values[i], before));
    append_varint(out, end - i - 1);
    before = values[i];
    i = end;
  }
}

bool decode_runs(VarintInput& input, std::size_t rows, std::vector<std::int64_t>& values) {
  std::int64_t value = 0;
  while (values.size() < rows && !input.failed) {
    value = sum(value, input.take_signed());
    const std::uint64_t more = input.take();
    if (input.failed || more >= rows - values.size()) return false;
    values.insert(values.end(), static_cast<std::size_t>(more) + 1, value);
  }
  return values.size() == rows;
}

}  // namespace

void encode_integers_as(Encoding encoding, const std::vector<std::int64_t>& values, std::string& out) {
  if (encoding == Encoding::runs) return encode_runs(values, out);
  std::int64_t before = 0;
  std::int64_t step_before = 0;
  for (const std::int64_t value : values) {
    const std::int64_t step = difference(value, before);
    switch (encoding) {
      case Encoding::raw:
        append_number(out, value);
        break;
      case Encoding::constant:
        return append_signed(out, value);
      case Encoding::delta:
        append_signed(out, step);
        break;
      case Encoding::delta2:
        append_signed(out, difference(step, step_before));
        break;
      default:
        append_signed(out, value);
        break;
    }
    before = value;
    step_before = step;
  }
}

Encoding encode_integers(const std::vector<std::int64_t>& values, std::string& out) {
  const std::array<std::size_t, 6> bytes = encoded_bytes(values);
  const auto best = static_cast<Encoding>(std::min_element(bytes.begin(), bytes.end()) - bytes.begin());
  encode_integers_as(best, values, out);
  return best;
}

bool decode_integers(Encoding encoding, std::string_view bytes, std::size_t rows, std::vector<std::int64_t>& values) {
  values.clear();
  if (encoding == Encoding::raw) {
    if (bytes.size() != rows * 8) return false;
    for (std::size_t i = 0; i < rows; ++i) values.push_back(number_at<std::int64_t>(bytes.data() + 8 * i));
    return true;
  }
  VarintInput input{bytes};
  if (encoding == Encoding::constant) {
    if (rows > 0) values.assign(rows, input.take_signed());
    return !input.failed && input.bytes.empty();
  }
  if (encoding == Encoding::runs) return decode_runs(input, rows, values) && input.bytes.empty();
  if (encoding > Encoding::runs || bytes.size() < rows) return false;  // a varint takes a byte at least
  values.reserve(rows);
  std::int64_t before = 0;
  std::int64_t step = 0;
  for (std::size_t i = 0; i < rows && !input.failed; ++i) {
    const std::int64_t given = input.take_signed();
    if (encoding == Encoding::delta2) step = sum(step, given);
    if (encoding == Encoding::delta) step = given;
    before = encoding == Encoding::varint ? given : sum(before, step);
    values.push_back(before);
  }
  return !input.failed && input.bytes.empty();
}

Encoding encode_texts(const std::vector<std::string_view>& texts, std::string& out) {
  bool same = !texts.empty();
  for (const std::string_view text : texts) same = same && text == texts[0];
  if (same) {
    out.append(texts[0]);
    return Encoding::constant;
  }
  for (const std::string_view text : texts) append_varint(out, text.size());
  for (const std::string_view text : texts) out.append(text);
  return Encoding::raw;
}

bool decode_texts(Encoding encoding, std::string_view bytes, std::size_t rows, std::vector<std::string_view>& texts) {
  texts.clear();
  if (encoding == Encoding::constant) {
    texts.assign(rows, bytes);
    return true;
  }
  if (encoding != Encoding::raw || bytes.size() < rows) return false;
  VarintInput lengths{bytes};
  std::vector<std::size_t> sizes;
  sizes.reserve(rows);
  for (std::size_t i = 0; i < rows && !lengths.failed; ++i) sizes.push_back(lengths.take());
  if (lengths.failed) return false;
  std::string_view rest = lengths.bytes;
  texts.reserve(rows);
  for (const std::size_t size : sizes) {
    if (size > rest.size()) return false;
    texts.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return rest.empty();
}

}  // namespace vramscope::recording
