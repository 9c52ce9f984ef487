// Writes a heap profile with many distinct stacks: every allocation is sampled, and each comes through another path.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
)

var kept [][]byte

func a(path uint32, depth int) { next(path, depth) }
func b(path uint32, depth int) { next(path, depth) }
func c(path uint32, depth int) { next(path, depth) }
func d(path uint32, depth int) { next(path, depth) }

//go:noinline
func next(path uint32, depth int) {
	if depth == 0 {
		kept = append(kept, make([]byte, 16+path%64))
		return
	}
	switch path & 3 {
	case 0:
		a(path>>2, depth-1)
	case 1:
		b(path>>2, depth-1)
	case 2:
		c(path>>2, depth-1)
	default:
		d(path>>2, depth-1)
	}
}

func main() {
	runtime.MemProfileRate = 1
	count, _ := strconv.Atoi(os.Args[2])
	kept = make([][]byte, 0, count)
	for path := 0; path < count; path++ {
		next(uint32(path), 10)
	}
	runtime.GC()
	out, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.Lookup("heap").WriteTo(out, 0); err != nil {
		panic(err)
	}
	out.Close()
}
