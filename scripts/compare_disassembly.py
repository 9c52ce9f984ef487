#!/usr/bin/env python3
"""Compares `prof source --asm` with objdump, instruction by instruction.

    compare_disassembly.py PROF OBJDUMP BINARY [FUNCTIONS]

Makes a profile with a sample in each of FUNCTIONS functions of BINARY (default: 1000, spread over the binary), asks PROF for
their instructions, and OBJDUMP (GNU's or LLVM's) for those of the binary. Prints how many addresses, mnemonics and whole
instructions agree, and examples of those that do not. Needs `nm`.
"""
import collections
import json
import re
import subprocess
import sys
import tempfile

# Names for one instruction, as the two programs write it.
SUFFIX = re.compile(r"^(call|ret|push|pop|leave|jmp|mov|add|sub|cmp|test|and|or|xor|lea|inc|dec|neg|not|shl|shr|sar|rol|ror|"
                    r"imul|mul|idiv|div|adc|sbb|bt|bts|btr|btc|nop|cmpxchg|xadd|xchg|sal|cvtsi2sd|cvtsi2ss|movnti|rcl|rcr|"
                    r"bsf|bsr|popcnt|tzcnt|lzcnt|shld|shrd|ud1|movbe|sysret|pushf|popf|iret|lret|lcall|ljmp|fild|fistp|fld|fstp)"
                    r"[bwlqs]?$")
SAME = {"cltq": "cdqe", "cqto": "cqo", "cltd": "cdq", "cwtl": "cwde", "movabs": "mov", "sal": "shl", "ja": "ja", "jnbe": "ja",
        "setnbe": "seta", "xchg %ax,%ax": "nop", "data16": "", "int3": "int3", "pause": "pause", "b.cs": "b.hs", "b.cc": "b.lo"}


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def profile(functions, binary):
    """A pprof file with one sample of one frame per function, at the linker's addresses."""
    strings = ["", "samples", "count", binary]
    out = field(1, field(1, 1) + field(2, 2))
    out += field(3, field(1, 1) + field(5, 3))
    for number, (address, _, name) in enumerate(functions, 1):
        strings.append(name)
        out += field(2, field(1, varint(number)) + field(2, varint(1)))
        out += field(4, field(1, number) + field(2, 1) + field(3, address) + field(4, field(1, number)))
        out += field(5, field(1, number) + field(2, len(strings) - 1) + field(3, len(strings) - 1))
    return out + b"".join(field(6, text.encode()) for text in strings)


def functions_of(binary, count):
    lines = subprocess.run(["nm", "-S", "--defined-only", binary], capture_output=True, text=True).stdout.splitlines()
    found = {}
    for line in lines:
        parts = line.split(maxsplit=3)
        if len(parts) == 4 and parts[2] in "tTwW" and int(parts[1], 16) > 0:
            found.setdefault(int(parts[0], 16), (int(parts[0], 16), int(parts[1], 16), parts[3]))
    found = sorted(found.values())
    return found[:: max(1, len(found) // count)][:count]


def objdump(program, binary, first, last):
    """The instructions of a part of a binary, by address."""
    command = [program, "-d", "--no-show-raw-insn", f"--start-address={first}", f"--stop-address={last}", binary]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if match:
            found[int(match[1], 16)] = match[2].strip()
    return found


def number(match):
    value = int(match[0], 0)
    return str(value if value < 1 << 63 else value - (1 << 64))


def normal(text):
    """An instruction without what is a matter of style: blanks, comments, hexadecimal or decimal numbers, sizes that the
    operands tell anyway."""
    text = re.sub(r"\s+[#;@] .*$|\s//.*$", "", text).rstrip()
    text = re.sub(r"\s*<[^>]*(>[^>]*)*>$", "", text)
    text = re.sub(r"\s+", " ", text).strip().lower()
    mnemonic, _, operands = text.partition(" ")
    operands = operands.replace(" ", "").replace("#", "")
    if re.fullmatch(r"j\w+|call\w*|jmp\w*|b|bl|b\.\w+|loop\w*|xbegin\w*", mnemonic):
        operands = re.sub(r"^([0-9a-f]+)$", r"0x\1", operands)
    if re.fullmatch(r"cbn?z|tbn?z|adrp?", mnemonic):
        operands = re.sub(r",([0-9a-f]{3,})$", r",0x\1", operands)
    operands = re.sub(r"(?<![\w.])(0x[0-9a-f]+|\d+)(?![\w.])", number, operands)
    operands = operands.replace("-0(", "(").replace("(,", "(,")
    operands = re.sub(r",cs$", ",hs", re.sub(r",cc$", ",lo", operands))
    # AArch64: an extension by no bits, and registers that move wide numbers.
    operands = re.sub(r"(sxtw|uxtw|sxtx)0(?=\]|$)", r"\1", operands)
    if mnemonic == "movz" and (wide := re.fullmatch(r"(\w+),(\d+)(?:,lsl(\d+))?", operands)):
        mnemonic, operands = "mov", f"{wide[1]},{int(wide[2]) << int(wide[3] or 0)}"
    match = SUFFIX.match(mnemonic)
    mnemonic = SAME.get(mnemonic, mnemonic)
    return (match[1] if match else mnemonic), operands


def main():
    prof, program, binary = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    functions = functions_of(binary, count)
    with tempfile.NamedTemporaryFile(suffix=".pb") as file:
        file.write(profile(functions, binary))
        file.flush()
        command = [prof, "source", "--asm", ".", "-n", "0", "-f", "json", "--binary", binary, file.name]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    report = json.loads(result.stdout)
    compared = collections.Counter()
    examples = collections.OrderedDict()
    for function in report["functions"]:
        start, end = int(function["start"], 0), int(function["end"], 0)
        expected = objdump(program, binary, start, end)
        compared["functions"] += 1
        found = {int(line["address"], 0): line["instruction"] for line in function["instructions"]}
        compared["addresses in both"] += len(found.keys() & expected.keys())
        compared["addresses in one"] += len(found.keys() ^ expected.keys())
        if found.keys() ^ expected.keys():
            examples.setdefault(("addresses",), f"{function['symbol']}: {hex(min(found.keys() ^ expected.keys()))}")
        for address in found.keys() & expected.keys():
            ours, theirs = normal(found[address]), normal(expected[address])
            compared["mnemonics equal"] += ours[0] == theirs[0]
            compared["instructions equal"] += ours == theirs
            if ours != theirs:
                key = (ours[0], theirs[0])
                compared[f"  {ours[0]} / {theirs[0]}"] += 1
                examples.setdefault(key, f"{address:#x}: {found[address]}  |  {expected[address]}")
    for name, value in compared.items():
        if not name.startswith(" "):
            print(f"{value:9}  {name}")
    for name, value in sorted(compared.items(), key=lambda item: -item[1]):
        if name.startswith(" "):
            print(f"{value:9}{name}:  {examples[tuple(name.strip().split(' / '))]}")
    if ("addresses",) in examples:
        print("addresses differ, such as", examples[("addresses",)])


main()
