"""Measures `prof diff` on recorded pairs of builds of which is known what changed.

    python3 scripts/measure_changes.py PROF CHANGES [PAIR...]

PROF is the binary. CHANGES is a folder with one folder per pair: the runs in `old` and `new`, and `truth.json`, which says
what the exit code should be, why the new build costs more, which functions must not be reported as regressed, and which
functions of both builds are the same. The table has a line per pair; the totals come last:

- exit: as expected. If the truth calls the evidence thin, "no verdict" is right as well.
- blamed: functions reported as regressed although their code did not change.
- first cause: the kind and the function of the first cause are one of those expected. If code only moved, each function
  of which the truth says so is one of them; `strictly` counts only those that it expects to be named.
- matching: pairs of functions with different names, of those that the truth knows. Precision: how many of the reported
  ones are right; recall: how many of the true ones are reported.
"""
import json, pathlib, subprocess, sys

MOVES = ("renamed", "moved", "extracted", "inlined")


def report(prof, folder):
    """The exit code and the report, with all matched functions."""
    command = [prof, "diff", "-v", "-f", "json", "old", "new"]
    run = subprocess.run(command, cwd=folder, capture_output=True)
    return run.returncode, json.loads(run.stdout) if run.stdout else None


def exit_is_right(expect, code, found):
    is_thin = expect.get("evidence") == "thin"
    return code == expect["exit"] or is_thin and code == 0 and found["verdict"] == "inconclusive"


def cause_is_right(expect, found):
    """Whether the first cause is expected; without one, whether none is."""
    wanted = [cause for cause in expect["causes"] if cause["cause"] != "none"]
    if not wanted or not found["causes"]:
        return not wanted and not found["causes"]
    first = found["causes"][0]
    return any(
        first["cause"] == cause["cause"] and first["function"] in [cause["function"], *cause.get("also", [])]
        for cause in wanted
    )


def is_other_move(truth, found):
    """Whether the first cause is a move that the truth lists but does not expect to be named."""
    if not found["causes"] or any(cause["share_of_delta"] for cause in truth["expect"]["causes"]):
        return False
    first = found["causes"][0]
    return first["cause"] in MOVES and any(
        function["what"] == first["cause"] and function["new"] == first["function"]
        for function in truth["functions"]
    )


def matching(truth, found):
    """Right, wrong and missed pairs of different names, of the functions that the truth knows."""
    functions = truth["functions"]
    true = {(f["old"], f["new"]) for f in functions if f["old"] and f["new"]}
    old, new = {f["old"] for f in functions} - {None}, {f["new"] for f in functions} - {None}
    reported = {(pair["old"], pair["new"]) for pair in found["matched"]}
    known = {pair for pair in reported if pair[0] in old or pair[1] in new}
    wanted = {pair for pair in true if pair[0] != pair[1]}
    return len(known & true), len(known - true), len(wanted - reported)


def short(name):
    return name if len(name) <= 48 else "…" + name[-47:]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    prof, changes, only = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]), sys.argv[3:]
    pairs = sorted(path.parent for path in changes.glob("*/truth.json"))
    pairs = [pair for pair in pairs if not only or pair.name in only]
    exits = causes = strictly = blamed = spared = pairs_blamed = right = wrong = missed = 0
    print(f"{'pair':20} {'exit':8} {'blamed':>6}  {'first cause':62} {'matched':>11}")
    for pair in pairs:
        truth = json.loads((pair / "truth.json").read_text())
        expect = truth["expect"]
        code, found = report(prof, pair)
        if found is None:
            print(f"{pair.name:20} {code}/{expect['exit']}: no report")
            continue
        regressed = {row["name"] for row in found["rows"] if row["verdict"] == "regressed"}
        wrongly = regressed & set(expect["must_not"])
        blamed += len(wrongly)
        spared += len(expect["must_not"]) - len(wrongly)
        pairs_blamed += bool(wrongly)
        exits += exit_is_right(expect, code, found)
        strict = cause_is_right(expect, found)
        listed = strict or is_other_move(truth, found)
        strictly += strict
        causes += listed
        good, bad, lost = matching(truth, found)
        right, wrong, missed = right + good, wrong + bad, missed + lost
        first = found["causes"][0] if found["causes"] else None
        cause = f"{first['cause']} {short(first['function'])}" if first else "none"
        if code == 0 and found["verdict"] == "inconclusive" and expect["exit"] == 1:
            cause = "no verdict"
        mark = "" if listed else "  WRONG"
        exit_mark = "" if exit_is_right(expect, code, found) else " WRONG"
        print(
            f"{pair.name:20} {str(code) + '/' + str(expect['exit']) + exit_mark:8} {len(wrongly):6}  {cause + mark:62}"
            f" {good:3} +{bad} −{lost}"
        )
    count = len(pairs)
    share = lambda part, whole: f"{part} of {whole}" + (f" ({100 * part / whole:.1f}%)" if whole else "")
    print(f"\nexit codes: {share(exits, count)}")
    print(f"pairs without a wrongly blamed function: {share(count - pairs_blamed, count)};"
          f" functions not blamed: {share(spared, spared + blamed)}")
    print(f"first causes: {share(causes, count)}; strictly {share(strictly, count)}")
    print(f"matching: precision {share(right, right + wrong)}, recall {share(right, right + missed)}")


main()
