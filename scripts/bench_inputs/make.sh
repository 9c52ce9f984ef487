#!/usr/bin/env bash
# Makes large inputs for measuring prof, each with the recorder that people use for the format.
#
#     scripts/bench_inputs/make.sh FOLDER [INPUT...]
#
# INPUT is one of the names below; by default all are made, which takes about a quarter of an hour and 2 GB on two
# processors. Inputs that exist are kept. If a recorder is missing or not permitted, its inputs are left out, and a line
# says why.
#
#     perf-data       perf record of a C compiler, system calls included      perf with access to perf_event_open
#     perf-script     perf script of perf-data
#     jfr             Java Flight Recorder in javac                           JDK 17 or newer
#     callgrind       callgrind in a C compiler                               valgrind, gcc
#     pstats          cProfile of a generated program of 300,000 functions    python3
#     cpuprofile      node --cpu-prof of the TypeScript compiler              node, npm
#     chrome          viztracer of CPython's tests                            python3 with venv
#     speedscope      the same, converted to the events that speedscope exports
#     sampled         speedscope with samples: perf-data, converted by prof, its samples repeated 15 times
#     firefox         perf-data, converted by prof with all its samples
#     heap            heap profile of a Go program with a million stacks      go
#     pprof           CPU profile with many functions: perf-data, converted by prof
#     collapsed       heap, converted by prof
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "${1:?usage: make.sh FOLDER [INPUT...]}" && cd "$1" && pwd)
shift
prof=${PROF:-prof}
work=$folder/work
mkdir -p "$work"

needs() {
    for program in "$@"; do
        command -v "$program" >/dev/null || { echo "left out: no $program" >&2; return 1; }
    done
}

has() {
    [ -e "$folder/$1" ] || { echo "left out: needs $1" >&2; return 1; }
}

# A C file of many functions, which takes the compiler a while.
source_file() {
    [ -e "$work/big.c" ] || python3 "$here/generate.py" c 3000 >"$work/big.c"
}

perf_data() {
    needs perf gcc && source_file || return 0
    perf record -q -F 20000 -g -o "$work/perf.data" -- \
        sh -c "for level in 1 2 3; do gcc -O\$level -g -c '$work/big.c' -o '$work/big.o'; done" \
        || { echo "left out: perf may not record here" >&2; return 0; }
    mv "$work/perf.data" "$folder/perf.data"
}

perf_script() {
    needs perf && has perf.data || return 0
    perf script -i "$folder/perf.data" >"$work/perf.txt" 2>/dev/null
    mv "$work/perf.txt" "$folder/perf.txt"
}

jfr() {
    needs javac || return 0
    mkdir -p "$work/java"
    python3 "$here/generate.py" java 400 "$work/java"
    javac -J-Xmx1g -J-XX:TLABSize=4k -J-XX:-ResizeTLAB -J-XX:FlightRecorderOptions=stackdepth=128 \
        "-J-XX:StartFlightRecording=settings=$here/events.jfc,filename=$work/javac.jfr,maxsize=0" \
        -d "$work/java/out" "$work"/java/*.java >/dev/null
    mv "$work/javac.jfr" "$folder/javac.jfr"
}

callgrind() {
    needs valgrind gcc && source_file || return 0
    head -c 200000 "$work/big.c" | sed '$d' | python3 "$here/generate.py" whole >"$work/part.c"
    gcc -E "$work/part.c" -o "$work/part.i"
    valgrind -q --tool=callgrind --dump-instr=yes --separate-callers=3 --callgrind-out-file="$work/cc1.callgrind" \
        "$(gcc -print-prog-name=cc1)" -quiet -O2 "$work/part.i" -o /dev/null
    mv "$work/cc1.callgrind" "$folder/cc1.callgrind"
}

pstats() {
    needs python3 || return 0
    python3 "$here/generate.py" python 300000 >"$work/many.py"
    python3 -m cProfile -o "$work/python.pstats" "$work/many.py"
    mv "$work/python.pstats" "$folder/python.pstats"
}

cpuprofile() {
    needs node npm || return 0
    mkdir -p "$work/tsc"
    cp "$here/tsconfig.json" "$work/tsc/"
    (cd "$work/tsc" && npm install --silent --no-save typescript@5.6 @types/node@20)
    # It reports errors in its own code, which is no TypeScript.
    (cd "$work/tsc" && node --cpu-prof --cpu-prof-interval 100 --cpu-prof-name tsc.cpuprofile \
        node_modules/typescript/lib/tsc.js -p . >/dev/null) || true
    mv "$work/tsc/tsc.cpuprofile" "$folder/tsc.cpuprofile"
}

chrome() {
    needs python3 || return 0
    [ -e "$work/venv" ] || python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install -q viztracer
    "$work/venv/bin/viztracer" --quiet --tracer_entries 1500000 --ignore_c_function -o "$work/trace.json" \
        -m test test_json test_ast >/dev/null 2>&1 || true
    mv "$work/trace.json" "$folder/trace.json"
}

speedscope() {
    has trace.json || return 0
    python3 "$here/speedscope.py" events "$folder/trace.json" "$work/events.speedscope.json"
    mv "$work/events.speedscope.json" "$folder/events.speedscope.json"
}

sampled() {
    needs "$prof" && has perf.data || return 0
    "$prof" convert --quiet -o "$work/sampled.speedscope.json" "$folder/perf.data"
    python3 "$here/speedscope.py" repeat "$work/sampled.speedscope.json" "$folder/sampled.speedscope.json" 15
}

firefox() {
    needs "$prof" && has perf.data || return 0
    "$prof" convert --quiet --to firefox -o "$work/firefox.json" "$folder/perf.data"
    mv "$work/firefox.json" "$folder/firefox.json"
}

heap() {
    needs go || return 0
    go run "$here/heap.go" "$work/heap.pb.gz" 1000000
    mv "$work/heap.pb.gz" "$folder/heap.pb.gz"
}

pprof() {
    needs "$prof" && has perf.data || return 0
    "$prof" convert --quiet -o "$work/cpu.pb.gz" "$folder/perf.data"
    mv "$work/cpu.pb.gz" "$folder/cpu.pb.gz"
}

collapsed() {
    needs "$prof" && has heap.pb.gz || return 0
    "$prof" convert --quiet -m alloc_objects -o "$work/heap.folded" "$folder/heap.pb.gz"
    mv "$work/heap.folded" "$folder/heap.folded"
}

# Each input and its file.
inputs=(
    perf-data:perf.data perf-script:perf.txt jfr:javac.jfr callgrind:cc1.callgrind pstats:python.pstats
    cpuprofile:tsc.cpuprofile chrome:trace.json speedscope:events.speedscope.json
    sampled:sampled.speedscope.json firefox:firefox.json heap:heap.pb.gz pprof:cpu.pb.gz collapsed:heap.folded
)
[ $# -gt 0 ] || set -- "${inputs[@]%%:*}"
for input in "$@"; do
    file=
    for known in "${inputs[@]}"; do
        [ "${known%%:*}" = "$input" ] && file=${known#*:}
    done
    [ -n "$file" ] || { echo "no input is called $input" >&2; exit 2; }
    [ -e "$folder/$file" ] && continue
    start=$SECONDS
    "${input//-/_}"
    [ ! -e "$folder/$file" ] || echo "$file: $(du -m "$folder/$file" | cut -f1) MB in $((SECONDS - start)) s"
done
