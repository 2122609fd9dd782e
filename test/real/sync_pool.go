// Two goroutines take a buffer from a sync.Pool and put it back, each for its own processor.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	rounds := 20_000_000
	if len(os.Args) > 1 {
		number, err := strconv.Atoi(os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, "usage: sync_pool [ROUNDS]")
			os.Exit(2)
		}
		rounds = number
	}
	pool := sync.Pool{New: func() any { return new([64]byte) }}
	sums := [2]int{}
	began := time.Now()
	var waiting sync.WaitGroup
	for thread := range sums {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			sum := 0
			for round := range rounds {
				buffer := pool.Get().(*[64]byte)
				sum += round
				pool.Put(buffer)
			}
			sums[thread] = sum
		}()
	}
	waiting.Wait()
	fmt.Printf("rounds %d\nresult %d\nelapsed %.3f s\n", rounds, sums[0]+sums[1], time.Since(began).Seconds())
}
