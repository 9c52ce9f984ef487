#!/usr/bin/env python3
"""Makes a fleet out of a real CPU profile: each profile holds a random twelfth of its events, as a shorter recording would.

    scripts/bench_inputs/fleet.py cpu.pb.gz 250 FOLDER

Profiles of one program share most of their stacks, and hot stacks are in all of them; invented stacks have neither
property. The profile has to count events in its first metric, as those of Go do.
"""

import gzip
import os
import random
import sys

SAMPLE, TIME = 2, 9
VALUE = 2
SHARE = 1 / 12
MINUTE = 60_000_000_000


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def encoded(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def fields(data):
    """The fields of a message: number, value, and where each begins and ends."""
    at = 0
    while at < len(data):
        start = at
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            raise SystemExit(f"wire type {key & 7} at byte {start}")
        yield key >> 3, value, data[start:at]


def field(number, value):
    return encoded(number << 3 | 2) + encoded(len(value)) + value


def values_of(sample):
    """The values of a sample, and its other fields."""
    values, rest = [], b""
    for number, value, raw in fields(sample):
        if number != VALUE:
            rest += raw
        elif isinstance(value, int):
            values.append(value)
        else:
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                values.append(one)
    return values, rest


def main():
    path, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    data = open(path, "rb").read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    samples, tables, start = [], b"", 1_790_000_000_000_000_000
    for number, value, raw in fields(data):
        if number == SAMPLE:
            samples.append(values_of(value))
        elif number != TIME:
            tables += raw
    os.makedirs(folder, exist_ok=True)
    for seed in range(count):
        chance = random.Random(seed)
        out = []
        for values, rest in samples:
            events = values[0]
            kept = sum(chance.random() < SHARE for _ in range(events))
            if kept:
                packed = b"".join(encoded(value * kept // events) for value in values)
                out.append(field(SAMPLE, field(VALUE, packed) + rest))
        time = encoded(TIME << 3) + encoded(start + seed * MINUTE)
        with open(os.path.join(folder, f"{seed:06}.pb.gz"), "wb") as file:
            file.write(gzip.compress(b"".join(out) + tables + time, compresslevel=6, mtime=0))


if __name__ == "__main__":
    main()
