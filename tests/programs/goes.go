// Some work in one named function of a Go program, then a line and status 7.
package main

import (
	"fmt"
	"os"
)

//go:noinline
func goWork() uint64 {
	x := uint64(1)
	for i := 0; i < 300000000; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func main() {
	if goWork() == 0 {
		fmt.Println("unlikely")
	}
	fmt.Println("done")
	os.Exit(7)
}
