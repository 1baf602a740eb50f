package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// maxLogFile is the size in bytes at which a new log file is begun.
const maxLogFile = 100 << 20

// startLog puts a pipe in the place of os.Stderr, and copies what is written there to standard error and, unless dir is
// empty, to files in dir with glog's names. The returned function waits until all is copied.
//
// glog itself would end the program at the first line that it cannot write. Here a full disk costs only the lines that
// do not fit: one message says so, and standard error still has them.
func startLog(dir string) (stop func(), err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for the log: %w", err)
	}
	stderr, done := os.Stderr, make(chan struct{})
	os.Stderr = out
	go func() {
		defer close(done)
		file := &logFile{dir: dir}
		lines := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := lines.ReadSlice('\n') // of a very long line, a part
			stderr.Write(line)
			if dir != "" {
				file.write(line, stderr)
			}
			if err != nil && err != bufio.ErrBufferFull {
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

// logFile is the newest log file in a directory.
type logFile struct {
	dir    string
	file   *os.File // nil: none could be made yet
	size   int
	failed bool // the last write
}

// write appends to the file, a new one if there is none or it is full. It reports the first of a row of failures.
func (l *logFile) write(line []byte, stderr io.Writer) {
	if l.file == nil || l.size > maxLogFile {
		host, _ := os.Hostname()
		name := fmt.Sprintf("kubelet14.%s.log.INFO.%s.%d", host, time.Now().Format("20060102-150405"), os.Getpid())
		file, err := os.OpenFile(filepath.Join(l.dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			l.report(err, stderr)
			return
		}
		l.file.Close() // nil or full
		l.file, l.size = file, 0
	}
	n, err := l.file.Write(line)
	l.size += n
	l.report(err, stderr)
}

func (l *logFile) report(err error, stderr io.Writer) {
	if err != nil && !l.failed {
		fmt.Fprintf(stderr, "kubelet14: -log_dir: %v; until that is mended the log is on standard error alone\n", err)
	}
	l.failed = err != nil
}
