package server

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
)

// The page is one template that fills in what there is to see; a browser needs nothing
// else. Its script only keeps it fresh.
var (
	//go:embed page/page.html page/live.html
	pageSources embed.FS
	//go:embed page/page.css page/page.js page/favicon.svg
	pageFiles embed.FS

	pageTemplates = template.Must(template.ParseFS(pageSources, "page/*.html"))
)

// serveRoot lets in who follows the link with the token, and shows the page to who may
// look.
func (s *Server) serveRoot(w http.ResponseWriter, r *http.Request) error {
	if given := r.URL.Query().Get("token"); given != "" {
		return s.logIn(w, r, given)
	}
	s.allow(reading, s.servePage)(w, r)
	return nil
}

// servePage answers with the page, and with ?part=live with the part of it that changes:
// the script puts it in the place of what is there.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error {
	name := "page.html"
	switch part := r.URL.Query().Get("part"); part {
	case "":
	case "live":
		name = "live.html"
	default:
		return refuse(http.StatusBadRequest, "part=%q: it must be live, or left out", part)
	}
	var page bytes.Buffer // so that an error is not half a page
	if err := pageTemplates.ExecuteTemplate(&page, name, s.lookAtAll(r.Context())); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err := w.Write(page.Bytes())
	return err
}

func (s *Server) servePageFile(w http.ResponseWriter, r *http.Request) error {
	http.ServeFileFS(w, r, pageFiles, "page/"+r.PathValue("file"))
	return nil
}
