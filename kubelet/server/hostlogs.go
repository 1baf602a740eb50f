package server

import (
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/golang/glog"
)

// serveHostLogs lists the files of the kubelet's own log. In 2014 all of /var/log was
// served.
func (s *Server) serveHostLogs(w http.ResponseWriter, r *http.Request) error {
	glog.Flush()                              // it keeps lines back for half a minute
	entries, err := os.ReadDir(s.opts.LogDir) // sorted by name
	if err != nil {
		return fmt.Errorf("list the log directory: %w", err)
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info() // of a link, not of where it leads
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return fmt.Errorf("list the log directory: %w", err)
		}
		if s.isLog(info) {
			files = append(files, info)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return hostLogsPage.Execute(w, files)
}

var hostLogsPage = template.Must(template.New("logs").Funcs(template.FuncMap{
	"link": func(name string) template.URL { return template.URL("./" + url.PathEscape(name)) },
	"utc":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}).Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The kubelet's log files</title>
<h1>The kubelet's log files</h1>
{{if .}}<table>
<tr><th scope="col">File<th scope="col">Bytes<th scope="col">Last changed
{{range .}}<tr><td><a href="{{link .Name}}">{{.Name}}</a><td>{{.Size}}<td>{{utc .ModTime}}
{{end}}</table>
{{else}}<p>There is none: the kubelet runs with -logtostderr, which writes no files.
{{end}}`))

// serveHostLog answers with one file, or a range of it.
func (s *Server) serveHostLog(w http.ResponseWriter, r *http.Request) error {
	glog.Flush()
	file, err := s.openLog(r.PathValue("file"))
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := lift(w); err != nil { // a log may be large, and the network slow
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", info.ModTime(), file)
	return nil
}

// openLog opens a plain file that is in the log directory itself. It looks before it
// opens, since to open a pipe or a device may do something, and after, since another
// file may have come in between.
func (s *Server) openLog(name string) (*os.File, error) {
	none := refuse(http.StatusNotFound, "there is no log file %q: /logs/ lists them", name)
	if strings.Contains(name, "/") { // it came encoded
		return nil, none
	}
	root, err := os.OpenRoot(s.opts.LogDir)
	if err != nil {
		return nil, fmt.Errorf("open the log directory: %w", err)
	}
	defer root.Close()
	before, err := root.Lstat(name)
	if err != nil || !s.isLog(before) {
		return nil, none
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, none
	}
	after, err := file.Stat()
	if err != nil || !os.SameFile(before, after) {
		file.Close()
		return nil, none
	}
	return file, nil
}

// isLog says that a file is a plain one, and no secret, for a directory that is the
// root_dir too, with the token and a .dockercfg: the cookie opens logs, and must not lead
// to more.
func (s *Server) isLog(info fs.FileInfo) bool {
	if !info.Mode().IsRegular() || strings.HasPrefix(info.Name(), ".") {
		return false
	}
	token, err := os.Stat(s.opts.TokenFile)
	return err != nil || !os.SameFile(info, token)
}
