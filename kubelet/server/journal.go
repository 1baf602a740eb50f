package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
)

const maxJournalUnits, maxJournalLines = 4, 10_000 // of one answer

// serveUnitLogs answers with what services of this host have written to systemd's journal: those that -log_query_units lists,
// and no others. Upstream calls it the node log query, which also reads files and takes a pattern; here nothing of a request
// becomes an argument of journalctl as it is (CVE-2024-9042 was such a pattern).
func (s *Server) serveUnitLogs(w http.ResponseWriter, r *http.Request) error {
	commands, err := s.journalArgs(r.URL.Query())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	out, stderr := newStream(w, r.WithContext(ctx)), &strings.Builder{}
	defer out.close()
	if r.Method == http.MethodHead {
		return nil
	}
	for _, args := range commands {
		cmd := exec.CommandContext(ctx, "journalctl", args...)
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, stderr, time.Second
		switch err := cmd.Run(); {
		case err == nil:
		case errors.Is(err, exec.ErrNotFound):
			return out.end(httpErrorf(http.StatusNotImplemented, "this host has no journalctl: the logs of services are in systemd's journal"))
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return out.end(httpErrorf(http.StatusGatewayTimeout, "journalctl has not ended after %v: ask for fewer lines", writeTimeout))
		default:
			return out.end(fmt.Errorf("journalctl: %w: %s", err, api.OneLine(api.Shorten(strings.TrimSpace(stderr.String()), 400))))
		}
	}
	return nil
}

// journalArgs returns the arguments of each journalctl that answers a query. All units share one command, which sorts
// their lines by time, except docker: with Docker's log driver journald its unit has the output of everybody's
// containers, so only the lines of dockerd itself are taken.
func (s *Server) journalArgs(query url.Values) (commands [][]string, err error) {
	shown := cmp.Or(s.opts.LogUnits, "none")
	valid := len(query["query"]) > 0 && len(query["query"]) <= maxJournalUnits
	for name, values := range query {
		valid = valid && slices.Contains([]string{"query", "tailLines", "sinceTime", "untilTime", "key"}, name) && (name == "query" || len(values) == 1)
	}
	if !valid {
		return nil, httpErrorf(http.StatusBadRequest, "give query=UNIT, one to %d times, of the units that -log_query_units lists (%s), "+
			"and tailLines, sinceTime and untilTime at most once", maxJournalUnits, shown)
	}
	var units, docker []string
	for _, unit := range query["query"] {
		switch {
		case unit == "" || !slices.Contains(strings.Split(s.opts.LogUnits, ","), unit):
			return nil, httpErrorf(http.StatusNotFound, "no log of unit %q is shown: -log_query_units lists those that are (%s)", unit, shown)
		case unit == "docker":
			docker = []string{"--identifier=dockerd"}
		default:
			units = append(units, "--unit="+unit+".service")
		}
	}
	tail := cmp.Or(query.Get("tailLines"), strconv.Itoa(maxJournalLines))
	n, err := strconv.Atoi(tail)
	if err != nil || n < 0 || n > maxJournalLines {
		return nil, httpErrorf(http.StatusBadRequest, "tailLines=%q: it must be a number of lines, at most %d", tail, maxJournalLines)
	}
	rest, earliest := []string{fmt.Sprintf("--lines=%d", n)}, int64(0)
	for _, option := range []string{"since", "until"} {
		text := query.Get(option + "Time")
		at, err := time.Parse(time.RFC3339, text)
		if err == nil && at.Unix() >= earliest {
			earliest = at.Unix()
			rest = append(rest, fmt.Sprintf("--%s=@%d", option, at.Unix()))
		} else if text != "" {
			return nil, httpErrorf(http.StatusBadRequest, "%sTime=%q: it must be a time such as 2014-10-23T12:00:00Z, and untilTime not before sinceTime", option, text)
		}
	}
	for _, of := range [][]string{units, docker} {
		if len(of) > 0 {
			commands = append(commands, slices.Concat([]string{"--utc", "--no-pager", "--output=short-precise"}, of, rest))
		}
	}
	return commands, nil
}
