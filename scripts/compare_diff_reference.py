"""Compares `prof diff` with the reference implementation of its statistics on random draws of real runs.

    python3 scripts/compare_diff_reference.py PROF RUNS [DRAWS]

PROF is the binary. RUNS is a folder of recorded runs: Go CPU profiles, in the folders `long250`, `steady250` and
`aa-steady`, called VARIANT-NUMBER.pb.gz (A-00.pb.gz, B20-01.pb.gz). numpy and scipy are needed. If any of these is
missing, the script says so and compares nothing.
"""
import gzip, json, pathlib, random, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent.parent
ARTEFACTS = ("runtime.asyncPreempt", "runtime.asyncPreempt2")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]; at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if tag & 7 == 1 else 4
            value, at = None, at + size
        yield tag >> 3, value


def numbers(values):
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            yield number


def message(data):
    found = {}
    for field, value in fields(data):
        found.setdefault(field, []).append(value)
    return found


def read(path):
    """The stacks of a Go CPU profile, leaf last, with their sample counts: [(names, count)]."""
    profile = message(gzip.decompress(path.read_bytes()))
    strings = [value.decode() for value in profile[6]]
    functions = {f[1][0]: strings[f[2][0]] for f in map(message, profile[5])}
    locations = {}
    for location in map(message, profile[4]):
        # The innermost inlined function is the first line.
        locations[location[1][0]] = [functions[message(line)[1][0]] for line in location.get(4, [])]
    stacks = []
    for sample in map(message, profile[2]):
        names = [name for id in numbers(sample[1]) for name in locations[id]]
        names.reverse()
        while len(names) > 1 and names[-1] in ARTEFACTS:
            names.pop()
        stacks.append((names, next(numbers(sample[2]))))
    return stacks


def matrices(side, index):
    import numpy
    own, total = numpy.zeros((len(side), len(index))), numpy.zeros((len(side), len(index)))
    for row, stacks in enumerate(side):
        for names, count in stacks:
            own[row, index[names[-1]]] += count
            for name in set(names):
                total[row, index[name]] += count
    return own, total


def compare(prof, reference, folder, old, new):
    sides = [[read(folder / name) for name in side] for side in (old, new)]
    names = sorted({name for side in sides for stacks in side for frames, _ in stacks for name in frames})
    index = {name: i for i, name in enumerate(names)}
    (old_self, old_total), (new_self, new_total) = (matrices(side, index) for side in sides)
    expected = reference.diff(old_self, new_self, old_total, new_total)
    paths = lambda side: [str(folder / name) for name in side]
    command = [prof, "diff", "--format", "json", "--metric", "samples", "--quiet"]
    done = subprocess.run(command + ["--old", *paths(old), "--new", *paths(new)], capture_output=True)
    assert done.returncode in (0, 1), done.stderr.decode()
    report = json.loads(done.stdout)

    wrong, compared = [], 0
    got = {}
    for row in report["rows"]:
        if row["q"] is not None:
            got.setdefault((row["test"], row["old"][row["test"]], row["new"][row["test"]]), []).append(row)
    for i, function in enumerate(expected["fid"]):
        test = "self" if expected["is_self"][i] else "total"
        key = (test, int(expected["x0"][i]), int(expected["x1"][i]))
        rows = got.get(key)
        if not rows:
            wrong.append(f"{names[function]} {key}: no row")
            continue
        rising = expected["L"][i] >= 0
        word = {"REGRESSED": ("regressed", "inherits", "moved"), "small": ("small", "inherits")}
        allowed = word.get(str(expected["verdict"][i]), ("", "new", "improved", "inherits", "removed", "small"))
        if not rising:
            if any(row["verdict"] in ("regressed", "moved") for row in rows):
                wrong.append(f"{names[function]} {key}: {rows[0]['verdict']}, though it fell")
            continue
        compared += 1
        if not any(abs(row["q"] - expected["q"][i]) <= 1e-6 and row["verdict"] in allowed for row in rows):
            found = [(row["q"], row["verdict"]) for row in rows]
            wrong.append(f"{names[function]} {key}: {found}, not {expected['q'][i]} {expected['verdict'][i]}")
    regressed = any(row["verdict"] == "regressed" for row in report["rows"])
    if (done.returncode == 1) != regressed:
        wrong.append(f"exit {done.returncode}")
    # The reference tests for increases only; a row may also have enough samples for a decrease alone.
    tested, least = sum(row["tested"] for row in report["rows"]), int(expected["ok"].sum())
    if report["tested"] != tested or tested < least:
        wrong.append(f"{report['tested']} tested, not {tested}, of which {least} for an increase")
    return compared, wrong


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    prof, runs = sys.argv[1], pathlib.Path(sys.argv[2])
    draws = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    if not runs.is_dir():
        return print(f"not compared: {runs} is absent")
    try:
        sys.path.insert(0, str(HERE / "fixtures" / "diff"))
        import profdiff_ref as reference
    except ImportError as error:
        return print(f"not compared: {error}")
    rng = random.Random(20)
    plans = [("long250", "A", "B20", 5, 5), ("long250", "A", "B10", 3, 3), ("steady250", "A", "FAST50", 5, 5),
             ("steady250", "A", "B20", 1, 1), ("aa-steady", "A", "A", 5, 1), ("aa-steady", "A", "A", 1, 1),
             ("long250", "A", "A", 2, 2), ("steady250", "A", "B10", 5, 4)]
    all_wrong, rows = [], 0
    for draw in range(draws):
        folder, a, b, n, m = plans[draw % len(plans)]
        files = sorted(path.name for path in (runs / folder).glob("*.pb.gz"))
        of = lambda variant: [name for name in files if name.rsplit("-", 1)[0] == variant]
        both = rng.sample(of(a), n + m if a == b else n)
        old, new = (both[:n], both[n:]) if a == b else (both, rng.sample(of(b), m))
        compared, wrong = compare(prof, reference, runs / folder, old, new)
        rows += compared
        all_wrong += [f"draw {draw}, {folder} {a} {n} v {b} {m}: {line}" for line in wrong]
    print("\n".join(all_wrong + [f"{draws} draws, {rows} rows compared, {len(all_wrong)} differ"]))
    sys.exit(1 if all_wrong else 0)


main()
