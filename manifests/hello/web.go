package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

func serve(f *flags) (int, error) {
	port := f.Int("port", 80, "the TCP port to listen on; 0 takes a free one")
	path := f.String("show", "", "a file or directory to show on the page")
	f.parse(0)
	hostname, err := os.Hostname()
	if err != nil {
		return 1, err
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
	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
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
		return 1, err
	}
	fmt.Println("serving on", listener.Addr())
	return 1, http.Serve(listener, nil)
}

func fetch(f *flags) (int, error) {
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
		return 1, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		return 1, err
	}
	if resp.StatusCode/100 != 2 {
		return 1, fmt.Errorf("GET %s: %s", f.Arg(0), resp.Status)
	}
	return 0, nil
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
