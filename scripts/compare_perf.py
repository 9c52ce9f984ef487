#!/usr/bin/env python3
"""Compares the names that prof and perf find for the same recordings.

    scripts/compare_perf.py target/release/prof perf.data...

Inlined functions are left out, because perf shows some under the wrong function. Runs `perf script` and `prof convert --to collapsed` on each recording, and prints the self and total samples of the functions
with the highest totals side by side. The exit code is 1 if any of the first thirty differ.
"""

import collections
import re
import subprocess
import sys

MOST = 30


def name_of(text):
    """A name without what the two write differently: parameters, blanks, and the version of a symbol."""
    # Debug information has the name in the source; symbols have aliases, and suffixes of copies.
    text = re.sub(r"@+[A-Z_]+[0-9.]+$", "", text)
    text = re.sub(r"(\.(part|isra|constprop|cold|lto_priv)(\.[0-9]+)?)+", "", text)
    text = re.sub(r"^__GI_+(?=[a-z])|_impl$", "", re.sub(r"^.*@plt$", ".plt", text))
    text = text.replace("__memmove_", "__memcpy_").replace("_[clone", "[clone")
    text = re.sub(r"\[clone [^]]*\]", "", text).replace("(anonymous namespace)", "{anonymous}")
    text = re.sub(r" ?const$", "", without_parameters(text)).replace("operator ", "operator")
    # Functions made from templates are preceded by their return type.
    words = re.sub(r"<[^<>]*(<[^<>]*(<.*>)?[^<>]*>)?[^<>]*>", lambda found: found[0].replace(" ", ""), text).split(" ")
    text = "".join(words) if text.startswith(("JS:", "LazyCompile:", "<", "[")) else words[-1]
    return text.replace(";", ":") or "?"


def without_parameters(text):
    kept, depth = "", 0
    for at, char in enumerate(text):
        if char == "(" and not text.startswith("()", at) or char == "(" and not kept.endswith("operator"):
            depth += 1
        if depth == 0:
            kept += char
        if char == ")" and depth > 0:
            depth -= 1
    return kept.strip()


def count(stacks):
    """Self and total values by name."""
    own, total = collections.Counter(), collections.Counter()
    for names, value in stacks:
        own[names[-1]] += value
        for name in set(names):
            total[name] += value
    return own, total


def of_perf(path):
    command = ["perf", "script", "-i", path, "-F", "comm,tid,time,event,ip,sym,dso", "--no-inline", "--max-stack", "65535"]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")
    for block in text.split("\n\n"):
        names = []
        for line in block.split("\n"):
            frame = re.match(r"^\s+([0-9a-f]+) (.*?) \((.*)\)$", line)
            if frame:
                symbol, module = frame[2], frame[3]
                if symbol == "[unknown]":
                    symbol = unnamed(module)
                names.append(name_of(symbol))
        if names:
            yield names[::-1], 1


def unnamed(module):
    """What prof calls code without a name."""
    base = module.removesuffix(" (deleted)").rsplit("/", 1)[-1]
    if module.startswith("/tmp/perf-") or module.startswith("//anon"):
        return "[anon]"
    return "<unknown>" if base in ("[unknown]", "") else "[" + base.strip("[]") + "]"


def of_prof(prof, path):
    command = [prof, "convert", "--to", "collapsed", "-o", "-", "-m", "samples", "--all-frames", "--no-inlines", path]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        yield [name_of(re.sub(r"_\[[ijkw]\]$", "", name)) for name in stack.split(";")], int(value)


def main():
    prof, *paths = sys.argv[1:]
    differ = False
    for path in paths:
        perf, ours = list(of_perf(path)), list(of_prof(prof, path))
        (perf_own, perf_total), (own, total) = count(perf), count(ours)
        same, longer = compared(merged(perf), merged(ours))
        print(f"{path}: {len(perf)} samples in perf, {sum(value for _, value in ours)} in prof; {same} stacks are equal, "
              f"{longer} equal as far as perf unwound them")
        names = [name for name, _ in perf_total.most_common(MOST)]
        names += [name for name, _ in total.most_common(MOST) if name not in names]
        print(f"{'SELF perf':>10}{'prof':>8}{'TOTAL perf':>12}{'prof':>8}  FUNCTION")
        for name in names:
            numbers = (perf_own[name], own[name], perf_total[name], total[name])
            equal = numbers[0] == numbers[1] and numbers[2] == numbers[3]
            differ |= not equal
            print(f"{numbers[0]:>10}{numbers[1]:>8}{numbers[2]:>12}{numbers[3]:>8}{' ' if equal else '!'} {name}")
    sys.exit(differ)


def merged(stacks):
    values = collections.Counter()
    for names, value in stacks:
        values[tuple(names)] += value
    return values


def compared(perf, ours):
    """The samples whose stacks are equal, and those whose stack is the inner part of a longer one in prof."""
    equal = perf & ours
    perf, rest = perf - equal, ours - equal
    longer = 0
    for stack, value in perf.items():
        for other in [other for other in rest if other[-len(stack):] == stack]:
            taken = min(value, rest[other])
            rest[other] -= taken
            value -= taken
            longer += taken
    return sum(equal.values()), longer


main()
