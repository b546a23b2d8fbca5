# SPDX-License-Identifier: Apache-2.0
"""Decodes frames from standard input. It was written from doc/codec-format.md alone, so that a test
can check that page. It is slow, and does not expect damaged input."""

import struct
import sys

sys.dont_write_bytecode = True
from crc32c import crc32c  # noqa: E402


def chunk_bytes(kind, count):
    return {0: count, 1: count + 3 * ((count + 7) // 8), 2: 3 * count}[kind]


def merge(kind, symbols, raw):
    count, out = len(symbols), b""
    for n, symbol in enumerate(symbols):
        if kind == 2:
            word = symbol << 24 | int.from_bytes(raw[3 * n:3 * n + 3], "little")
            out += struct.pack("<I", (word >> 1 | word << 31) & 0xFFFFFFFF)
            continue
        word = raw[n] | symbol << (8 if kind == 0 else 11)
        for plane in range(3 if kind == 1 else 0):
            byte = raw[count + plane * ((count + 7) // 8) + n // 8]
            word |= (byte >> n % 8 & 1) << 8 + plane
        out += struct.pack("<H", (word >> 1 | word << 15) & 0xFFFF)
    return out


class Bits:
    def __init__(self, data):
        self.value, self.position = int.from_bytes(data, "little"), 0

    def take(self, width):
        self.position += width
        return self.value >> self.position - width & (1 << width) - 1

    def number(self):
        place = self.take(4)
        return 1 << place | self.take(place)


def frequencies(bits):
    table, symbol, last = {}, bits.take(8), bits.take(8)
    while symbol <= last:
        place = bits.take(4)
        if place == 15:
            symbol += bits.take(8) + 1
        else:
            table[symbol] = 1 << place | bits.take(place)
            symbol += 1
    assert sum(table.values()) == 4096
    return table


def coded(groups, raw_bytes, content, tail):
    """Returns the symbols of each group, given the sizes of groups, and the raw bytes of all."""
    carried = 128 if raw_bytes >= 128 else 0
    bits = Bits(content[len(content) - tail:])
    content = content[:len(content) - tail]
    slots = [(s, f, y) for s, f in sorted(frequencies(bits).items()) for y in range(f)]
    low = struct.unpack("<64H", content[-128:])
    states = [bits.number() << 16 | half for half in low]
    assert (bits.position + 7) // 8 == tail
    raw, words = content[:raw_bytes - carried], iter(
        struct.unpack(f"<{(len(content) - 128 - raw_bytes + carried) // 2}H",
                      content[raw_bytes - carried:-128]))
    symbols = []
    for size in groups:
        group = [0] * size
        for lane in range(64):
            n = lane % 16 * 4 + lane // 16
            if n < size:
                group[n], f, y = slots[states[lane] % 4096]
                states[lane] = f * (states[lane] // 4096) + y
                if states[lane] < 65536:
                    states[lane] = 65536 * states[lane] + next(words)
        symbols.append(group)
    assert next(words, None) is None and all(state >> 16 == 1 for state in states)
    return symbols, raw + struct.pack("<64H", *(s & 0xFFFF for s in states)) if carried else raw


def read_block(block):
    checksum, mode, kind, tail, size, count = struct.unpack("<IBBHII", block[:16])
    assert checksum == crc32c(block[4:]) and size == len(block)
    width, content = (2, 2, 4)[kind], block[16:]
    if mode == 0:
        return content
    if mode == 1:
        return content * count
    sizes = [min(64, count - n) for n in range(0, count, 64)]
    zeros = 0
    if mode & 0x10:
        map_bytes = (len(sizes) + 7) // 8
        zeros = int.from_bytes(content[-map_bytes:], "little")
        content = content[:-map_bytes]
    groups = [size for g, size in enumerate(sizes) if not zeros >> g & 1]
    raw_bytes = sum(chunk_bytes(kind, size) for size in groups)
    if mode & 15 == 2:
        symbols, raw = [[content[-1]] * size for size in groups], content[:-1]
    else:
        symbols, raw = coded(groups, raw_bytes, content, tail)
    out, at, left = b"", 0, iter(symbols)
    for g, size in enumerate(sizes):
        if zeros >> g & 1:
            out += bytes(size * width)
            continue
        bytes_here = chunk_bytes(kind, size)
        out += merge(kind, next(left), raw[at:at + bytes_here])
        at += bytes_here
    return out


def read_frame(data):
    """Returns the values of a frame, and the data after it."""
    assert data[:5] == b"\x8dMGC\x01" and struct.unpack("<I", data[12:16])[0] == crc32c(data[:12])
    at, out, chain, elements = 16, b"", b"", 0
    while data[at + 4] != 0x0F:
        size, count = struct.unpack("<II", data[at + 8:at + 16])
        out += read_block(data[at:at + size])
        chain += data[at:at + 4]
        elements += count
        at += size
    checksum, _, _, left, size, _, total, chained = struct.unpack("<IBBHIIQI", data[at:at + 28])
    assert checksum == crc32c(data[at + 4:at + size]) and size == 28 + left
    assert total == elements and chained == crc32c(chain)
    return out + data[at + 28:at + size], data[at + size:]


rest = sys.stdin.buffer.read()
while rest:
    values, rest = read_frame(rest)
    sys.stdout.buffer.write(values)
