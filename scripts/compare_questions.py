#!/usr/bin/env python3
"""Asks the questions of tests/questions.toml, of prof (its server for programs) and of the text of `go tool pprof`.

A question counts as answered if one line of the text matches all parts of its answer. `go tool pprof` reads only files of its own
format, and gets the metric that the question names. In the text of -dot, the numbers of nodes are replaced by their names, so that
edges can answer who calls whom. A token is 4 characters.

    scripts/compare_questions.py --prof target/release/prof --corpus ../shared/corpus
"""

import argparse
import json
import re
import subprocess
import tomllib
from pathlib import Path

TOKEN = 4
BUDGET = 2000


class Server:
    """prof mcp."""

    def __init__(self, prof, roots):
        words = [prof, "mcp"] + [word for root in roots for word in ("--root", str(root))]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0
        client = {"name": "compare", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer["result"]

    def text(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]


def go_text(kind, question, paths):
    """The text of `go tool pprof`; a comparison shows the difference."""
    metric = question.get("arguments", {}).get("metric")
    words = ["go", "tool", "pprof", "-symbolize=none", kind]
    words += [f"-sample_index={metric}"] if metric else []
    words += [f"-diff_base={paths[0]}", paths[1]] if len(paths) > 1 else paths
    text = subprocess.run(words, capture_output=True, text=True).stdout
    return with_names(text) if kind == "-dot" else text


def with_names(dot):
    names = dict(re.findall(r'^(N\d+) \[label="(.*?)\\n\d', dot, re.M))
    return re.sub(r"^(N\d+) -> (N\d+)", lambda edge: f"{names.get(edge[1])} -> {names.get(edge[2])}", dot, flags=re.M)


def is_answered(text, answer):
    return any(all(re.search(part, line) for part in answer) for line in text.splitlines() if not line.startswith("command: "))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prof", required=True)
    parser.add_argument("--corpus", required=True, type=Path)
    options = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    corpus = options.corpus.resolve()
    prof = str(Path(options.prof).resolve())
    questions = tomllib.loads((here / "tests/questions.toml").read_text())["question"]
    server = Server(prof, [here, corpus])
    counts = {}
    for question in questions:
        names = [question[key] for key in ("profile", "new") if key in question]
        paths = [str(corpus / name.removeprefix("corpus/")) if name.startswith("corpus/") else str(here / name) for name in names]
        if not all(Path(path).exists() for path in paths):
            continue
        texts = {"prof mcp": server.text(question["tool"], {**question.get("arguments", {}), "profile": paths})}
        is_pprof = "/pprof/" in paths[0]
        for kind in ("-top", "-dot"):
            texts[f"go tool pprof {kind}"] = go_text(kind, question, paths) if is_pprof else ""
        for name, text in texts.items():
            all_of = counts.setdefault(name, {"asked": 0, "answered": 0, "within": 0, "pprof": 0, "tokens": 0})
            all_of["asked"] += 1
            all_of["tokens"] += len(text) / TOKEN
            answered = is_answered(text, question["answer"])
            all_of["answered"] += answered
            all_of["pprof"] += answered and is_pprof
            all_of["within"] += is_answered(text[: BUDGET * TOKEN], question["answer"])
    of_pprof = sum("/pprof/" in question["profile"] for question in questions)
    print(f"| text | answers, of {len(questions)} | of the {of_pprof} about pprof files | within {BUDGET:,} tokens | tokens per correct answer |")
    print("|---|---|---|---|---|")
    for name, all_of in counts.items():
        per_answer = all_of["tokens"] / max(all_of["answered"], 1)
        print(f"| `{name}` | {all_of['answered']} | {all_of['pprof']} | {all_of['within']} | {per_answer:,.0f} |")


if __name__ == "__main__":
    main()
