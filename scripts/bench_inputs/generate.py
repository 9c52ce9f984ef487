#!/usr/bin/env python3
"""Writes programs for the recorders of `make.sh` to work on. The same arguments give the same program.

    generate.py c COUNT              a C file of COUNT functions
    generate.py whole                completes the part of a C file on standard input: drops a function that was cut off
    generate.py java COUNT FOLDER    COUNT Java classes
    generate.py python COUNT         a Python program that calls COUNT functions
"""

import random
import sys
from pathlib import Path


def c(count):
    print("#include <stdlib.h>\n#include <string.h>")
    for number in range(count):
        other = f"f{random.randrange(number)}(a + i, text)" if number else "0"
        print(f"""int f{number}(int a, char *text) {{
    int sum = {number}, table[64];
    for (int i = 0; i < 64; i++) table[i] = a * i + {random.randrange(99)};
    for (int i = 0; text[i] && i < a; i++) {{
        switch (text[i] & 7) {{
            case 0: sum += table[i & 63] * {random.randrange(99)}; break;
            case 1: sum ^= a << (i & 7); break;
            case 2: sum -= (int) strlen(text) + {other}; break;
            default: sum = sum * 31 + (sum >> 3 ^ table[(i + a) & 63]);
        }}
    }}
    return sum;
}}""")


def whole():
    text = sys.stdin.read()
    sys.stdout.write(text[: text.rindex("\n}") + 3])


def java(count, folder):
    for number in range(count):
        methods = "\n".join(
            f"  public <T extends Comparable<T>> T m{method}(T a, java.util.List<? super T> b, "
            "java.util.Map<String, java.util.List<T>> c) {\n"
            "    return b.stream().filter(x -> x != null).map(x -> a)"
            ".sorted(java.util.Comparator.comparing(y -> y.toString()))"
            ".reduce((x, y) -> x.compareTo(y) > 0 ? x : y)"
            f".orElse(new C{random.randrange(count)}().m{random.randrange(15)}(a, b, c));\n  }}"
            for method in range(15)
        )
        Path(folder, f"C{number}.java").write_text(f"public class C{number} {{\n{methods}\n}}\n")


def python(count):
    for number in range(count):
        called = [random.randrange(number) for _ in range(3)] if number else []
        calls = "; ".join(f"f{other}(depth - 1)" for other in called)
        print(f"def f{number}(depth):\n    if depth: {calls or 'pass'}")
    print(f"for number in range({count}): globals()[f'f{{number}}'](2)")


random.seed(1)
command, *arguments = sys.argv[1:]
{"c": c, "whole": whole, "java": java, "python": python}[command](
    *(int(argument) if argument.isdigit() else argument for argument in arguments)
)
