package options

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"kubelet14/api"
)

// StartLog puts a pipe in the place of os.Stderr, and copies what is written there, made printable, to standard error and,
// unless dir is empty, to a file in dir with glog's name for it. The returned function waits until all is copied.
//
// glog itself would end the program at the first line that it cannot write. Here a full disk costs only the lines that
// do not fit: one message says so, and standard error still has them.
func StartLog(dir string) (stop func(), err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for the log: %w", err)
	}
	stderr, log, done := os.Stderr, &logWriter{stderr: os.Stderr}, make(chan struct{})
	if dir != "" {
		host, _ := os.Hostname()
		log.path = filepath.Join(dir, fmt.Sprintf("kubelet14.%s.log.INFO.%s.%d", host, time.Now().Format("20060102-150405"), os.Getpid()))
	}
	os.Stderr = out
	go func() {
		defer close(done)
		for lines := bufio.NewReader(in); ; {
			line, err := lines.ReadString('\n')
			if line != "" {
				io.WriteString(log, api.Printable(line)) // it may quote a registry or a container
			}
			if err != nil {
				return
			}
		}
	}()
	return func() {
		os.Stderr = stderr
		out.Close()
		<-done
	}, nil
}

// logWriter writes to standard error and to a file.
type logWriter struct {
	stderr io.Writer
	path   string // empty: no file
	failed bool   // the last write to the file
}

// Write never returns an error. It reports the first of several failures in a row. It opens the file anew each time,
// since the file may have been moved away.
func (l *logWriter) Write(text []byte) (int, error) {
	l.stderr.Write(text)
	if l.path == "" {
		return len(text), nil
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640) // excerpts of manifests may hold passwords
	if err == nil {
		_, err = file.Write(text)
		file.Close()
	}
	if err != nil && !l.failed {
		fmt.Fprintf(l.stderr, "kubelet14: -log_dir: %v; until that is mended the log is on standard error alone\n", err)
	}
	l.failed = err != nil
	return len(text), nil
}
