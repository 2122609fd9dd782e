// Tallies of goroutines, side by side in a slice.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const mostWorkers = 8

// @definition tally
type tally struct {
	hits   atomic.Int64
	misses atomic.Int64
}

func count(own *tally, rounds int64) {
	for i := int64(0); i < rounds; i++ {
		// With -gcflags=-N the check for nil reads the structure's first member.
		own.hits.Add(1)       // @contended tally.hits
		own.misses.Add(i & 1) // @contended tally.misses, tally.hits
	}
}

func argument(number int, standard int64) int64 {
	if len(os.Args) <= number {
		return standard
	}
	value, err := strconv.ParseInt(os.Args[number], 10, 64)
	if err != nil || value <= 0 {
		fmt.Fprintf(os.Stderr, "usage: shard_tallies [ROUNDS [WORKERS]], not '%s'\n", os.Args[number])
		os.Exit(2)
	}
	return value
}

func main() {
	rounds := argument(1, 6000000)
	workers := min(argument(2, 2), mostWorkers)
	// A block of 128 bytes begins a cache line (runtime/sizeclasses.go).
	tallies := make([]tally, mostWorkers)
	var group sync.WaitGroup
	start := time.Now()
	for i := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			count(&tallies[i], rounds)
		}()
	}
	group.Wait()
	sum := int64(0)
	for i := range tallies {
		sum += tallies[i].hits.Load() + tallies[i].misses.Load()
	}
	fmt.Printf("rounds %d\nresult %d\nelapsed %.3f s\n", rounds, sum, time.Since(start).Seconds())
}
