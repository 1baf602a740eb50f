// Tenant is the program in the containers of package chaos. It notes what it sees in /journal.
//
//	tenant run NAME VERSION [flags]   lock, count and note the start, then stay until SIGTERM
//	tenant note NAME TEXT             note a text, as hooks do
//	tenant probe                      exit with 0 if the tenant of this pod serves
//
// The name of a container is that of its pod, which is the host name, and NAME.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	host, err := os.Hostname()
	check(err)
	if os.Args[1] == "probe" {
		_, err := net.Dial("tcp", "127.0.0.1:8080")
		check(err)
		return
	}
	name := host + "/" + os.Args[2]
	if os.Args[1] == "note" {
		note(name, os.Args[3], "")
		return
	}
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	data := flags.String("data", "", "a `directory` to count the starts in")
	serve := flags.Bool("serve", false, "listen on port 8080")
	lasts := flags.Duration("for", 0, "end after this time; 0: never")
	exit := flags.Int("exit", 0, "exit with this code then")
	flags.Parse(os.Args[4:])
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)

	lock, err := os.OpenFile(fmt.Sprintf("/journal/%s.%s.lock", host, os.Args[2]), os.O_RDWR|os.O_CREATE, 0o666)
	check(err)
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		note(name, "double", err.Error())
	}
	count := "none"
	if *data != "" {
		count = addOne(*data + "/count")
	}
	note(name, "start", os.Args[3]+" "+count)
	if *serve {
		listener, err := net.Listen("tcp", ":8080")
		check(err)
		go func() {
			for {
				if conn, err := listener.Accept(); err == nil {
					conn.Close()
				}
			}
		}()
	}
	var end <-chan time.Time
	if *lasts > 0 {
		end = time.After(*lasts)
	}
	select {
	case <-stop:
		note(name, "stop", "")
		os.Exit(1) // so that the policy OnFailure starts it again
	case <-end:
		note(name, "end", "")
		os.Exit(*exit)
	}
}

// addOne appends a byte to a file and returns its size. A full disk takes nothing and loses nothing.
func addOne(path string) string {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err == nil {
		_, err = file.WriteString("x")
	}
	if errors.Is(err, syscall.ENOSPC) {
		return "full"
	}
	check(err)
	info, err := file.Stat()
	check(err)
	return fmt.Sprint(info.Size())
}

func note(name, what, more string) {
	file, err := os.OpenFile("/journal/journal", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	check(err)
	_, err = fmt.Fprintf(file, "%d %s %s %s\n", time.Now().UnixMilli(), name, what, more)
	check(err)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "tenant:", err)
		os.Exit(1)
	}
}
