package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

func cat(f *flags) (int, error) {
	f.parse(1)
	return 0, show(os.Stdout, f.Arg(0))
}

// show prints a file, or every file of a directory under its name.
func show(w io.Writer, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(w, file)
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		fmt.Fprintf(w, "%s:\n", entry.Name())
		if err := show(w, filepath.Join(path, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func appendLine(f *flags) (int, error) {
	rest := f.rest()
	f.parse(2)
	file, err := os.OpenFile(f.Arg(0), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return 1, err
	}
	// One write of a short line: two processes that append do not mix theirs.
	_, err = file.WriteString(f.Arg(1) + "\n")
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return 1, err
	}
	return rest()
}

// write keeps its count in the file alone, so one can see whether a volume
// outlived its container.
func write(f *flags) (int, error) {
	every := f.Duration("every", time.Second, "how often to write")
	url := f.String("ask", "", "a URL to GET each time; FILE then also says what came back")
	f.parse(1)
	path := f.Arg(0)
	count := 0
	if old, err := os.ReadFile(path); err == nil {
		fmt.Sscan(string(old), &count)
	}
	for {
		count++
		line := fmt.Sprintf("%d lines written, this one at %s\n", count, time.Now().Format(time.DateTime))
		if *url != "" {
			line += ask(*url)
		}
		// Renamed into its place, so that a reader never sees half a line.
		if err := os.WriteFile(path+".new", []byte(line), 0o666); err != nil {
			return 1, err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return 1, err
		}
		time.Sleep(*every)
	}
}
