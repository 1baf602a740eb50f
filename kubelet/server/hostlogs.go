package server

import (
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"regexp"

	"github.com/golang/glog"
)

// logName matches the names of glog's files. The log directory may hold other files, such as the token.
var logName = regexp.MustCompile(`^[^/]+\.log\.(INFO|WARNING|ERROR|FATAL)\.\d{8}-\d{6}\.\d+$`)

func isLog(name string, info fs.FileInfo) bool {
	return logName.MatchString(name) && info.Mode().IsRegular()
}

var hostLogsPage = template.Must(template.New("logs").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>The kubelet's log files</title>
<h1>The kubelet's log files</h1>
{{range .}}<p><a href="/logs/{{.Name}}">{{.Name}}</a>, {{.Size}} bytes, last changed {{.ModTime.UTC.Format "2006-01-02T15:04:05Z07:00"}}
{{else}}<p>There are none: the kubelet runs with -logtostderr, which writes no files.
{{end}}`))

// serveHostLogs lists the kubelet's own log files. In 2014 it was all of /var/log.
func (s *Server) serveHostLogs(w http.ResponseWriter, _ *http.Request) error {
	entries, err := os.ReadDir(s.opts.LogDir)
	if err != nil {
		return fmt.Errorf("list the log directory: %w", err)
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && isLog(entry.Name(), info) {
			files = append(files, info)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return hostLogsPage.Execute(w, files)
}

// serveHostLog answers with one log file, or a range of it.
func (s *Server) serveHostLog(w http.ResponseWriter, r *http.Request) error {
	glog.Flush()
	root, err := os.OpenRoot(s.opts.LogDir)
	if err != nil {
		return fmt.Errorf("open the log directory: %w", err)
	}
	defer root.Close()
	name := r.PathValue("file")
	if info, err := root.Lstat(name); err != nil || !isLog(name, info) {
		return httpErrorf(http.StatusNotFound, "there is no log file %q: /logs/ lists them", name)
	}
	if err := clearDeadlines(w); err != nil { // the file may be large, and the network slow
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeFileFS(w, r, root.FS(), name)
	return nil
}
