"""Makes a fleet of profiles, exports it, asks ten questions in SQL, and compares every sum with prof.

    python3 examples/fleet/check.py duckdb 2000          (pip install duckdb)
    python3 examples/fleet/check.py spark 2000           (pip install pyspark; needs Java 17)
    python3 examples/fleet/check.py clickhouse 2000      (pip install chdb)

The environment variable PROF names the program; by default, it is the one in PATH.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

PROF = os.environ.get("PROF", "prof")
START = 1_790_000_000_000_000_000
FUNCTION = "parse"


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


NAMES = ["main", "serve", "parse", "render", "query", "encode", "lock", "copy"] + [f"f{n}" for n in range(400)]


def stacks():
    """The stacks of the program, which all machines run."""
    chance = random.Random(1)
    return [[1] + [chance.randint(2, len(NAMES)) for _ in range(chance.randint(0, 30))] for _ in range(3000)]


STACKS = stacks()


def profile(seed):
    """A pprof file of a machine: some of the stacks, with a region and an endpoint."""
    chance = random.Random(seed)
    strings = ["", "samples", "count", "cpu", "nanoseconds", "region", "endpoint"]
    index = {text: number for number, text in enumerate(strings)}

    def string(text):
        if text not in index:
            index[text] = len(strings)
            strings.append(text)
        return index[text]

    out = b"".join(field(1, field(1, a) + field(2, b)) for a, b in [(1, 2), (3, 4)])
    region = string(chance.choice(["eu", "us", "asia"]))
    for stack in chance.sample(STACKS, chance.randint(400, 1200)):
        ticks = chance.randint(1, 9)
        sample = field(1, b"".join(map(varint, reversed(stack))))
        sample += field(2, varint(ticks) + varint(ticks * 10_000_000))
        sample += field(3, field(1, 5) + field(2, region))
        if chance.random() < 0.5:
            sample += field(3, field(1, 6) + field(2, string(chance.choice(["/a", "/b", "/c"]))))
        out += field(2, sample)
    for number, name in enumerate(NAMES, 1):
        out += field(4, field(1, number) + field(4, field(1, number)))
        out += field(5, field(1, number) + field(2, string(name)))
    out += b"".join(field(6, text.encode()) for text in strings)
    return out + field(9, START + seed * 60_000_000_000) + field(10, 10_000_000_000)


def prof(*arguments):
    done = subprocess.run([PROF, *arguments, "-f", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def duckdb_engine(script):
    import duckdb

    connection = duckdb.connect()
    connection.execute(script)
    return lambda query: connection.execute(query).fetchall()


def statements(script):
    for statement in script.split(";\n"):
        lines = [line for line in statement.splitlines() if not line.startswith("--")]
        if "".join(lines).strip():
            yield "\n".join(lines)


def spark_engine(script):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    # Compiling a question that is asked once takes longer than the answer.
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    builder = builder.config("spark.sql.codegen.wholeStage", "false")
    builder = builder.config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for statement in statements(script):
        session.sql(statement)
    return lambda query: [tuple(row) for row in session.sql(query).collect()]


def clickhouse_engine(script):
    from chdb import session

    database = session.Session()
    for statement in statements(script):
        database.query(statement)

    def ask(query):
        lines = str(database.query(query, "JSONCompactEachRow")).splitlines()
        return [tuple(json.loads(line)) for line in lines]

    return ask


def call(engine, macro, **arguments):
    """A query that calls a macro, as the engine has them."""
    if engine == "clickhouse":
        return f"SELECT * FROM {macro}(" + ", ".join(f"{key} = '{value}'" for key, value in arguments.items()) + ")"
    values = [value for key, value in arguments.items() if key != "metric_name"]
    metric = arguments["metric_name"]
    if engine == "duckdb" and values:
        metric = f"metric_name := '{metric}'"
    else:
        metric = f"'{metric}'"
    return f"SELECT * FROM {macro}(" + ", ".join([f"'{value}'" for value in values] + [metric]) + ")"


def pairs(rows):
    return {row[0]: int(row[1]) for row in rows if row[0]}


def main():
    engine, count = sys.argv[1], int(sys.argv[2])
    folder = tempfile.TemporaryDirectory()
    fleet, dataset = os.path.join(folder.name, "profiles"), os.path.join(folder.name, "fleet")
    os.mkdir(fleet)
    for seed in range(count):
        with open(f"{fleet}/{seed:06}.pb", "wb") as file:
            file.write(profile(seed))
    first, second = f"{fleet}/000000.pb", f"{fleet}/000001.pb"
    # Twice: the second export changes nothing.
    for _ in range(2):
        subprocess.run([PROF, "convert", "-q", "-o", dataset, "--to", "parquet", fleet], check=True)
    script = subprocess.run([PROF, "sql", engine, dataset], capture_output=True, text=True, check=True).stdout
    query = {"duckdb": duckdb_engine, "spark": spark_engine, "clickhouse": clickhouse_engine}[engine](script)

    def ask(macro, **arguments):
        return query(call(engine, macro, **arguments))

    def rows(*arguments):
        return {row["name"]: (row["self"], row["total"]) for row in prof("top", *arguments)["rows"]}

    def label(key):
        found = [entry for entry in prof("labels", "-m", "cpu", fleet)["keys"] if entry["key"] == key]
        return {value["value"]: value["total"] for value in found[0]["values"]}

    focus = prof("focus", FUNCTION, "-F", "-m", "cpu", fleet)
    changes = prof("top", "-m", "cpu", "--base", first, second)["rows"]
    answers = [
        ("self and total", {row[0]: (int(row[1]), int(row[2])) for row in ask("self_total", metric_name="cpu")},
         rows("-m", "cpu", fleet)),
        ("samples", {row[0]: (int(row[1]), int(row[2])) for row in ask("self_total", metric_name="samples")},
         rows("-m", "samples", fleet)),
        ("callers", pairs(ask("callers", f=FUNCTION, metric_name="cpu")),
         {row["name"]: row["value"] for row in focus["callers"]}),
        ("callees", pairs(ask("callees", f=FUNCTION, metric_name="cpu")),
         {row["name"]: row["value"] for row in focus["callees"]} | {"(self)": focus["self"]}),
        ("regions", pairs(ask("by_label", label_key="region", metric_name="cpu")), label("region")),
        ("endpoints", pairs(ask("by_label", label_key="endpoint", metric_name="cpu")), label("endpoint")),
        ("changes", {row[0]: (int(row[1]), int(row[2])) for row in ask("diff", a=first, b=second, metric_name="cpu")},
         {row["name"]: (row["old"]["self"], row["self"]) for row in changes}),
        ("stacks", sum(int(row[3]) for row in ask("flame", metric_name="cpu")), prof("top", "-m", "cpu", fleet)["total"]),
        ("profiles", int(query("SELECT count(*) FROM profiles")[0][0]), count),
        ("all values", int(query("SELECT sum(value) FROM samples WHERE metric = 'cpu'")[0][0]),
         prof("top", "-m", "cpu", dataset)["total"]),
    ]
    wrong = [name for name, found, wanted in answers if found != wanted or not wanted]
    for name, found, wanted in answers:
        print(f"{engine}: {name}: {'differs' if name in wrong else 'equal'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
