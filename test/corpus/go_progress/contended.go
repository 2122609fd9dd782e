// What two goroutines of a pipeline count, in one structure.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// @definition progress
type progress struct {
	sent     int64
	received int64
}

func send(state *progress, rounds int64) {
	for i := int64(0); i < rounds; i++ {
		atomic.AddInt64(&state.sent, 1) // @contended progress.sent
	}
}

func receive(state *progress, rounds int64) {
	for i := int64(0); i < rounds; i++ {
		// With -gcflags=-N the check for nil reads the structure's first member.
		atomic.AddInt64(&state.received, 1) // @contended progress.received, progress.sent
	}
}

func main() {
	rounds := int64(12000000)
	if len(os.Args) > 1 {
		value, err := strconv.ParseInt(os.Args[1], 10, 64)
		if err != nil || value <= 0 {
			fmt.Fprintf(os.Stderr, "usage: go_progress [ROUNDS], not '%s'\n", os.Args[1])
			os.Exit(2)
		}
		rounds = value
	}
	// A block of 16 bytes begins at a multiple of 16 (runtime/sizeclasses.go), so it lies on one line.
	state := new(progress)
	var group sync.WaitGroup
	start := time.Now()
	for _, step := range []func(*progress, int64){send, receive} {
		group.Add(1)
		go func() {
			defer group.Done()
			step(state, rounds)
		}()
	}
	group.Wait()
	sum := state.sent + state.received
	fmt.Printf("rounds %d\nresult %d\nelapsed %.3f s\n", rounds, sum, time.Since(start).Seconds())
}
