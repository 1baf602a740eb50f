package words

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"kubelet14/api"
)

func TestExec(t *testing.T) {
	h, k := newHost(t), shop()
	h.kubelet(k)
	k.exec = func(_ context.Context, asked string, s api.Streams) (int, error) {
		in := "none"
		if s.Stdin != nil {
			text, err := io.ReadAll(s.Stdin)
			if err != nil {
				return 0, err
			}
			in = fmt.Sprintf("%d bytes", len(text))
		}
		fmt.Fprintf(s.Stdout, "%s, input %s, terminal %v", asked, in, s.Terminal)
		io.WriteString(s.Stderr, "errors")
		return 42, nil
	}
	h.in = strings.Repeat("0123456789", 10_000)
	const first = "kubelet14: pod web.default.file has 3 containers: this is server; -c names another one\n"
	const noTerminal = "kubelet14: the input is no terminal, so the command gets none\n"
	for line, want := range map[string][2]string{
		"exec db.one -- ls -l":               {`db.one.file main ["ls" "-l"], input none, terminal false`, "errors"},
		"exec db.one -i -- ls -- -i":         {`db.one.file main ["ls" "--" "-i"], input 100000 bytes, terminal false`, "errors"},
		"exec -it db.one -- sh":              {`db.one.file main ["sh"], input 100000 bytes, terminal false`, noTerminal + "errors"},
		"exec -t db.one -- sh":               {`db.one.file main ["sh"], input none, terminal false`, noTerminal + "errors"},
		"exec web.default -- sh":             {`web.default.file server ["sh"], input none, terminal false`, first + "errors"},
		"exec web -c=cache -- sh -c x":       {`web.default.file cache ["sh" "-c" "x"], input none, terminal false`, "errors"},
		"exec -c net web.default.file -- sh": {`web.default.file net ["sh"], input none, terminal false`, "errors"},
	} {
		stdout, stderr, code := h.run(line)
		if stdout != want[0] || stderr != want[1] || code != 42 {
			t.Errorf("%s: exit code %d, it prints %q and %q, want %q", line, code, stdout, stderr, want)
		}
	}
	h.fails("exec web", 1, "the command is missing: write it after --")
	h.fails("exec web sh", 2, `unexpected argument "sh"`)
	h.fails("exec -- sh", 2, "a POD is missing")
	h.fails("exec db -- sh", 1, "2 pods are named db", "db.one.file", "db.two.etcd")
	h.fails("exec webb -- sh", 1, "did you mean web?")
	h.fails("exec web -c cach -- sh", 1, "did you mean", "cache")
	k.exec = func(context.Context, string, api.Streams) (int, error) { return 0, errors.New("it does not run") }
	h.fails("exec db.one -- sh", 1, "kubelet14: it does not run\n")
	k.exec = func(ctx context.Context, _ string, _ api.Streams) (int, error) {
		go h.end()
		<-ctx.Done()
		return 0, ctx.Err()
	}
	h.fails("exec db.one -- sh", 1, "canceled")
	h.fails("exec db.one -- sh", 1, "no kubelet answers")
}
