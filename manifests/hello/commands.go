package hello

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"
)

func serve(f *flags) error {
	port := f.Int("port", 80, "the TCP port to listen on; 0 takes a free one")
	path := f.String("show", "", "a file or directory to show on the page")
	f.parse(0)
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	http.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "Hello from pod %s.\n", hostname)
		if *path == "" {
			return
		}
		if err := show(w, *path); err != nil {
			fmt.Fprintln(w, err)
		}
	})
	http.HandleFunc("/env", func(w http.ResponseWriter, _ *http.Request) { printEnv(w) })
	http.HandleFunc("/exit", func(w http.ResponseWriter, r *http.Request) {
		code, err := strconv.Atoi(r.FormValue("code"))
		if err != nil {
			http.Error(w, "say with which code, as in /exit?code=1", http.StatusBadRequest)
			return
		}
		os.Exit(code)
	})
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", *port))
	if err != nil {
		return err
	}
	handleHealth(listener)
	fmt.Println("serving on", listener.Addr())
	err = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.note("GET " + r.URL.Path)
		if r.URL.Path != "/healthz" {
			fmt.Println("GET", r.URL.Path)
		}
		http.DefaultServeMux.ServeHTTP(w, r)
	}))
	if errors.Is(err, net.ErrClosed) {
		select {} // until a signal
	}
	return err
}

// handleHealth adds the page that a probe asks for, and those that make it fail.
func handleHealth(listener net.Listener) {
	var sick atomic.Bool
	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if sick.Load() {
			http.Error(w, "not ok", http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) {
		ok, err := strconv.ParseBool(r.FormValue("ok"))
		if err != nil {
			http.Error(w, "say how it is to be, as in /health?ok=false", http.StatusBadRequest)
			return
		}
		sick.Store(!ok)
	})
	http.HandleFunc("/close", func(http.ResponseWriter, *http.Request) { listener.Close() })
	http.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

// write keeps its count in the file alone, so one can see whether a volume
// outlived its container.
func write(f *flags) error {
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
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
		if count%10 == 1 {
			fmt.Print(line)
		}
		time.Sleep(*every)
	}
}

// ask says in one line what a URL answers.
func ask(url string) string {
	client := http.Client{Timeout: time.Second}
	resp, err := client.Get(url)
	if err != nil {
		return err.Error() + "\n"
	}
	resp.Body.Close()
	return fmt.Sprintf("GET %s answers %s\n", url, resp.Status)
}

func appendLine(f *flags) error {
	rest := f.rest()
	f.parse(2)
	if err := addLine(f.Arg(0), f.Arg(1)); err != nil {
		return err
	}
	rest()
	return nil
}

// addLine appends a line to a file in one write: two processes that append do not
// mix theirs.
func addLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line + "\n")
	return errors.Join(err, file.Close())
}

// say writes into the file that is there: a termination message is mounted.
func say(f *flags) error {
	code := f.Int("exit", 0, "exit with this code afterwards")
	f.parse(2)
	err := os.WriteFile(f.Arg(0), []byte(f.Arg(1)), 0o666)
	if err == nil {
		os.Exit(*code)
	}
	return err
}

func eat(f *flags) error {
	over := f.Duration("over", 0, "how long the meal takes, as a leak does")
	rest := f.rest()
	f.parse(1)
	size, err := strconv.Atoi(f.Arg(0))
	if err != nil || size < 0 {
		return fmt.Errorf("cannot eat %q bytes", f.Arg(0))
	}
	food := make([]byte, size)
	const bites = 100
	for bite := range bites {
		time.Sleep(*over / bites)
		for i := size * bite / bites; i < size*(bite+1)/bites; i += os.Getpagesize() {
			food[i] = 1 // a page that is not touched is not there
		}
	}
	fmt.Println("ate", size, "bytes")
	rest()
	runtime.KeepAlive(food)
	return nil
}

func cat(f *flags) error {
	f.parse(1)
	return show(os.Stdout, f.Arg(0))
}

// show prints a file, or every file of a directory under its name.
func show(w io.Writer, path string) error {
	entries, err := os.ReadDir(path)
	if err != nil { // a file, or an error that reading it shows too
		data, err := os.ReadFile(path)
		w.Write(data)
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

func fetch(f *flags) error {
	try := f.Duration("try", 0, "try again for this long while nothing answers")
	f.parse(1)
	client := http.Client{Timeout: 30 * time.Second}
	deadline := time.Now().Add(*try)
	resp, err := client.Get(f.Arg(0))
	for err != nil && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
		resp, err = client.Get(f.Arg(0))
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("GET %s: %s", f.Arg(0), resp.Status)
	}
	return nil
}

func sleep(f *flags) error {
	rest := f.rest()
	f.parse(0)
	fmt.Println("asleep; SIGTERM ends it")
	rest()
	return nil
}

func repeat(f *flags) error {
	code := f.Int("exit", 0, "exit with this code afterwards")
	f.parse(0)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	go func() {
		for range resized {
			if columns, rows, err := term.GetSize(0); err == nil {
				fmt.Printf("terminal of %d rows and %d columns\n", rows, columns)
			}
		}
	}()
	if columns, rows, err := term.GetSize(0); err == nil && rows > 0 {
		fmt.Printf("terminal of %d rows and %d columns\n", rows, columns)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(in.Text())
	}
	if err := in.Err(); err != nil {
		return err
	}
	os.Exit(*code)
	return nil
}

func exit(f *flags) error {
	f.parse(1)
	code, err := strconv.Atoi(f.Arg(0))
	if err == nil {
		os.Exit(code)
	}
	return err
}

func env(f *flags) error {
	f.parse(0)
	printEnv(os.Stdout)
	return nil
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

func flood(f *flags) error {
	lines := f.Int("lines", 1000, "how many lines")
	size := f.Int("bytes", 80, "how long each is, with its newline")
	every := f.Duration("every", 0, "how often to print one; all at once when it is 0")
	f.parse(0)
	out := bufio.NewWriter(os.Stdout)
	for i := range *lines {
		line := fmt.Appendf(nil, "%d ", i+1)
		line = append(line, bytes.Repeat([]byte{'x'}, max(*size, len(line)+1)-len(line)-1)...)
		out.Write(append(line, '\n'))
		if *every > 0 {
			out.Flush()
			time.Sleep(*every)
		}
	}
	return out.Flush()
}
