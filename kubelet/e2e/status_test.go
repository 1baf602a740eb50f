package e2e

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// statusRow is what the table of SIGUSR1 says of a pod or of a container.
type statusRow struct {
	state    string // of a pod: its phase
	restarts int    // of a container
	reason   string
}

// statusTable is what the kubelet answers to SIGUSR1.
type statusTable struct {
	text    string
	sources string // what it says of the sources, above the table
	// rows are by the id of the pod and the name of the container, with a slash
	// between them; that of the pod itself has no name. The id of a pod of another
	// source than file is its full name.
	rows map[string]statusRow
}

const statusHeader = "POD "

// status asks the kubelet what has become of its pods.
func (p *process) status() (statusTable, error) {
	p.t.Helper()
	p.says("pods come from source") // the signal would end one that has not begun
	out, log := len(p.out.String()), len(p.log.String())
	// What it writes after a second signal shows that the first answer is complete.
	for answers := range 2 {
		if err := p.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			return statusTable{}, err
		}
		var refused error
		err := waitFor(func() error {
			if _, says, failed := strings.Cut(p.log.String()[log:], "say what has become of the pods: "); failed {
				refused = errors.New(says)
				return nil
			}
			if strings.Count("\n"+p.out.String()[out:], "\n"+statusHeader) <= answers {
				return errors.New("it has not answered to SIGUSR1")
			}
			return nil
		})
		if err = errors.Join(err, refused); err != nil {
			return statusTable{}, err
		}
	}
	return parseStatus(p.out.String()[out:])
}

// parseStatus reads the answer that text begins with.
func parseStatus(text string) (statusTable, error) {
	sources, rest, _ := strings.Cut(text, "\n"+statusHeader)
	rows, _, _ := strings.Cut(rest, "\nsource ") // the next answer
	table := statusTable{text: sources + "\n" + statusHeader + rows, sources: sources, rows: map[string]statusRow{}}
	header, rows, _ := strings.Cut(statusHeader+rows, "\n")
	columns := []int{0}
	for _, title := range []string{"CONTAINER", "STATE", "RESTARTS", "SINCE", "REASON"} {
		columns = append(columns, strings.Index(header, title))
	}
	pod := ""
	for line := range strings.Lines(rows) {
		var cells []string
		for i, from := range columns {
			to := len(line)
			if i+1 < len(columns) {
				to = columns[i+1]
			}
			if from < 0 || from > to || to > len(line) {
				return table, fmt.Errorf("no row of a table: %q in\n%s", line, text)
			}
			cells = append(cells, strings.TrimSpace(line[from:to]))
		}
		name, container := cells[0], cells[1]
		restarts, _ := strconv.Atoi(cells[3])
		if name != "" {
			pod = strings.TrimSuffix(name, ".default.file")
		}
		table.rows[pod+"/"+container] = statusRow{cells[2], restarts, cells[5]}
	}
	return table, nil
}

// shows checks that the kubelet's table has a row for a container, or for a pod when
// it is named by "pod/", in this state and with all of the given words in its reason.
func (p *process) shows(name, state string, words ...string) error {
	p.t.Helper()
	table, err := p.status()
	if err != nil {
		return err
	}
	return table.shows(name, state, words...)
}

func (table *statusTable) shows(name, state string, words ...string) error {
	row, there := table.rows[name]
	if !there || row.state != state {
		return fmt.Errorf("%s is %q, want %q, in\n%s", name, row.state, state, table.text)
	}
	for _, word := range words {
		if !strings.Contains(row.reason, word) {
			return fmt.Errorf("the reason of %s does not say %q: %s", name, word, row.reason)
		}
	}
	return nil
}

// sourceSays checks that all of the words are said above the table.
func (table *statusTable) sourceSays(words ...string) error {
	for _, word := range words {
		if !strings.Contains(table.sources, word) {
			return fmt.Errorf("the sources do not say %q in\n%s", word, table.text)
		}
	}
	return nil
}
