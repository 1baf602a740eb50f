package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

func sleep(f *flags) (int, error) {
	rest := f.rest()
	f.parse(0)
	return rest()
}

func exit(f *flags) (int, error) {
	f.parse(1)
	return strconv.Atoi(f.Arg(0))
}

func env(f *flags) (int, error) {
	f.parse(0)
	printEnv(os.Stdout)
	return 0, nil
}

// printEnv prints what the process was started with: NAME=value lines in order,
// then lines that begin with a word in lower case.
func printEnv(w io.Writer) {
	for _, line := range slices.Sorted(slices.Values(os.Environ())) {
		fmt.Fprintln(w, line)
	}
	hostname, _ := os.Hostname()
	dir, _ := os.Getwd()
	fmt.Fprintf(w, "hostname: %s\ndirectory: %s\narguments: %q\n", hostname, dir, os.Args)
}

func flood(f *flags) (int, error) {
	lines := f.Int("lines", 1000, "how many lines")
	size := f.Int("bytes", 80, "how long each is, with its newline")
	f.parse(0)
	out := bufio.NewWriter(os.Stdout)
	for i := range *lines {
		line := fmt.Appendf(nil, "%d ", i+1)
		line = append(line, bytes.Repeat([]byte{'x'}, max(*size, len(line)+1)-len(line)-1)...)
		out.Write(append(line, '\n'))
	}
	return 0, out.Flush()
}

func hog(f *flags) (int, error) {
	megabytes := f.Int("megabytes", 100, "how much memory to take")
	f.parse(0)
	var taken [][]byte
	for range *megabytes {
		// A page counts only once it has been written to.
		taken = append(taken, bytes.Repeat([]byte{1}, 1<<20))
	}
	fmt.Printf("took %d MB\n", len(taken))
	forever()
	return len(taken), nil
}
