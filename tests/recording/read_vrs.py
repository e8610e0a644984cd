#!/usr/bin/env python3
"""A second reader of .vrs, written from docs/recording-format.md alone: prints what a recording holds, one JSON value
a line, in file order. `read_vrs.py FILE`; needs libzstd.so.1.
"""
import ctypes
import itertools
import json
import struct
import sys

FILE_MAGIC, CHUNK_MAGIC = b"\x89VRS\r\n\x1a\n", b"\xf1VRC"
MUST_UNDERSTAND, COMPRESSED = 1, 4
KNOWN_COLUMNS = {1: 2, 2: 4, 3: 3, 4: 4, 5: 3, 6: 6, 7: 5, 8: 1, 9: 6, 16: 4, 17: 3, 18: 16, 19: 11, 23: 6, 24: 6}
TEXT_COLUMNS = {16: [4], 17: [3], 18: [5, 7, 8], 19: [8], 23: [4], 24: []}  # of the kinds for traces


def crc_of(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


TABLE = [crc_of(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def open_zstd():
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return library


def inflate(library, stored, size):
    out = ctypes.create_string_buffer(size + 1)
    assert library.ZSTD_decompress(out, size, stored, len(stored)) == size
    return out.raw[:size]


def signed(bits):
    return (bits + (1 << 63)) % (1 << 64) - (1 << 63)


def varints(data, count=-1):
    """Up to `count` numbers, and what follows them."""
    values, value, shift = [], 0, 0
    for at, byte in enumerate(data):
        if len(values) == count:
            return values, data[at:]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values, b""


def integers(encoding, data, rows):
    if encoding == 0:
        return list(struct.unpack(f"<{rows}q", data))
    numbers, total, values = varints(data)[0], 0, []
    if encoding == 5:
        for step, more in zip(numbers[::2], numbers[1::2]):
            total = signed(total + (step >> 1 ^ -(step & 1)))
            values += [total] * (more + 1)
        return values
    values = [bits >> 1 ^ -(bits & 1) for bits in numbers] * (rows if encoding == 1 else 1)
    for _ in range({1: 0, 2: 0, 3: 1, 4: 2}[encoding]):  # delta sums once, delta of delta twice
        total = 0
        for i, step in enumerate(values):
            total = values[i] = signed(total + step)
    return values


def texts(encoding, data, rows):
    lengths, data = ([len(data)], data * rows) if encoding == 1 else varints(data, rows)
    ends = list(itertools.accumulate(lengths * (rows if encoding == 1 else 1)))
    return [data[start:end].decode("utf-8", "replace") for start, end in zip([0] + ends, ends)]


class Recording:
    def __init__(self, data):
        self.data, self.library, self.trouble = data, open_zstd(), {}
        self.strings, self.subjects, self.series, self.attributes = {0: ""}, set(), set(), {}
        self.key, self.key_values, self.totals = None, {}, None
        self.seen = {"chunks": 0, "samples": 0, "events": 0, "dropped": 0}

    def count(self, name, more=1):
        self.trouble[name] = self.trouble.get(name, 0) + more

    def file_header(self):
        version, _, size = struct.unpack_from("<HHI", self.data, 8)
        end = 16 + size
        assert self.data[:8] == FILE_MAGIC and version == 1
        assert crc32c(self.data[:end]) == struct.unpack_from("<I", self.data, end)[0]
        run, at = {"uuid": self.data[16:32].hex(), "start_ns": struct.unpack_from("<q", self.data, 32)[0]}, 40
        for name in ("host_name", "boot_id", "program", "command"):
            length = struct.unpack_from("<H", self.data, at)[0]
            run[name] = self.data[at + 2:at + 2 + length].decode("utf-8", "replace")
            at += 2 + length
        return run, end + 4

    def chunks(self, at):
        last = -1
        while 0 <= at < len(self.data):
            head = self.data[at:at + 64]
            if len(head) < 64 or head[:4] != CHUNK_MAGIC or crc32c(head[:60]) != struct.unpack_from("<I", head, 60)[0]:
                is_cut = len(head) < 64 and CHUNK_MAGIC.startswith(head[:4])
                self.count("cut_short" if is_cut else "chunk_header_damaged")
                at = self.data.find(CHUNK_MAGIC, at + 1)
                continue
            kind, flags, sequence, rows, columns, drops, raw, stored, crc = struct.unpack_from("<HHQIH18xQIII", head, 4)
            payload = self.data[at + 64:at + 64 + stored]
            if len(payload) < stored or crc32c(payload) != crc:
                self.count("cut_short" if len(payload) < stored else "payload_damaged")
                at = self.data.find(CHUNK_MAGIC, at + 64)
                continue
            if sequence != last + 1:
                self.count("sequence_gap")
            last, at = sequence, at + 64 + stored
            payload = inflate(self.library, payload, raw) if flags & COMPRESSED else payload
            place, found = 8 * columns, {}
            for i in range(columns):
                column, form, encoding, length = struct.unpack_from("<HBBI", payload, 8 * i)
                if column & 0x7FFF <= KNOWN_COLUMNS.get(kind, 0):
                    decode = integers if form == 1 else texts
                    found[column & 0x7FFF] = decode(encoding, payload[place:place + length], rows)
                place += length
            self.seen["chunks"] += 1
            self.seen["dropped"] += drops
            if drops:
                self.count("dropped_rows", drops)
            if kind in KNOWN_COLUMNS:
                yield kind, sequence, rows, found
            elif self.count("unknown_kind") or flags & MUST_UNDERSTAND:
                return self.count("must_understand")

    def samples(self, sequence, rows, found):
        base = found.get(5, [None])[0]
        if base is None:
            self.key, self.key_values = sequence, {}
        elif base != self.key:
            return self.count("base_missing", rows)
        out, before, none = [], None, [0] * rows
        for series, time, step, validity, shift in zip(*(found.get(column, none) for column in (1, 2, 3, 4, 6))):
            if series != before:
                value = self.key_values.get(series, 0) if base is not None else 0
            value, before = signed(value + (step << shift)), series
            if base is None:
                self.key_values[series] = value
            if series in self.series:
                out.append([series, time, None if validity else value, validity])
            else:
                self.count("unknown_series")
        self.seen["samples"] += len(out)
        return {"samples": out} if out else None

    def trace_rows(self, kind, rows, found):
        columns = [found.get(column, [0] * rows) for column in range(1, KNOWN_COLUMNS[kind] + 1)]
        for column in TEXT_COLUMNS[kind]:
            columns[column - 1] = [self.strings.get(name, "") for name in columns[column - 1]]
        if kind > 17:
            self.seen["trace_rows"] = self.seen.get("trace_rows", 0) + rows
        return {"rows": [kind, *map(list, zip(*columns))]}

    def values(self):
        run, at = self.file_header()
        yield {"run": run}
        for kind, sequence, rows, found in self.chunks(at):
            if kind == 6:
                yield self.samples(sequence, rows, found)
            elif kind in TEXT_COLUMNS:
                yield self.trace_rows(kind, rows, found)
                continue
            for row in zip(*(found[column] for column in sorted(found))):
                if kind == 1:
                    self.strings[row[0]] = row[1]
                elif kind == 2 and row[0] not in self.subjects:
                    self.subjects.add(row[0])
                    yield {"subject": [row[0], row[1], self.strings[row[2]], row[3]]}
                elif kind == 3 and self.attributes.get(row[:2]) != row[2]:
                    self.attributes[row[:2]] = row[2]
                    yield {"attribute": [row[0], self.strings[row[1]], self.strings[row[2]]]}
                elif kind == 4 and row[0] not in self.series:
                    self.series.add(row[0])
                    yield {"series": [row[0], row[1], self.strings[row[2]], self.strings[row[3]]]}
                elif kind == 5:
                    yield {"clock": list(row)}
                elif kind == 7:
                    self.seen["events"] += 1
                    yield {"event": list(row)}
                elif kind == 9:
                    self.totals = dict(zip(("chunks", "samples", "events", "dropped", "bytes", "trace_rows"), row))
        if self.totals is None and "must_understand" not in self.trouble:
            self.count("no_end")
        yield {"summary": {**self.seen, "totals": self.totals, "trouble": self.trouble}}


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        for item in filter(None, Recording(file.read()).values()):
            print(json.dumps(item, ensure_ascii=False, separators=(",", ":")))
