package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

var errGone = errors.New("no such container")

func TestTheExitCodeDecides(t *testing.T) {
	hook := &api.Handler{Exec: execProbe.Exec}
	for _, test := range []struct {
		target Target
		want   string
	}{
		{execOf("", 0, nil), ""},
		{execOf("Fail\n", 0, nil), ""},
		{execOf("ok", 1, nil), `unhealthy: run "check": exit code 1: ok`},
		{execOf(" \r\n", 137, nil), `unhealthy: run "check": exit code 137`},
		{execOf("half", 0, errGone), "unknown: no such container"},
		// The output becomes one line that is safe for a log and a terminal.
		{execOf("line 1\n\tline 2\r\n\n", 2, nil), `unhealthy: run "check": exit code 2: line 1 line 2`},
		{execOf("\x1b[31mred\x1b[0m\a\x00 a\u009b2J \u202eb", 2, nil), `unhealthy: run "check": exit code 2: ?[31mred?[0m?? a?2J ?b`},
		{execOf("a\xffb καλημέρα 世界", 2, nil), "unhealthy: run \"check\": exit code 2: a\ufffdb καλημέρα 世界"},
		// At most 1 KiB of it is kept, in whole runes.
		{execOf(strings.Repeat("x", 1011), 2, nil), `unhealthy: run "check": exit code 2: ` + strings.Repeat("x", 1011)},
		{execOf(strings.Repeat("x", 1008)+"éé", 2, nil), `unhealthy: run "check": exit code 2: ` + strings.Repeat("x", 1008) + "…"},
		{execOf(strings.Repeat("x", 1007)+"ééé", 2, nil), `unhealthy: run "check": exit code 2: ` + strings.Repeat("x", 1007) + "…"},
		{execOf(strings.Repeat("\xff", 600), 2, nil), `unhealthy: run "check": exit code 2: ` + strings.Repeat("\ufffd", 336) + "…"},
	} {
		want(t, Probe(t.Context(), execProbe, test.target), test.want)
		want(t, RunHandler(t.Context(), hook, test.target), test.want)
	}
}

func TestACommandThatPrintsWithoutEnd(t *testing.T) {
	target := Target{Exec: func(_ context.Context, command []string, out io.Writer) (int, error) {
		for range 100 {
			if n, err := out.Write(make([]byte, 1<<20)); n != 1<<20 || err != nil {
				t.Fatalf("wrote %d, %v: that would interrupt the command", n, err)
			}
		}
		if kept := cap(*out.(*limitedBuffer)); kept > 2*maxOutput || !slices.Equal(command, execProbe.Exec.Command) {
			t.Errorf("of %q %d bytes are kept, want about %d", command, kept, maxOutput)
		}
		return 0, nil
	}}
	want(t, Probe(t.Context(), execProbe, target), "")
}

func TestACommandThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context, _ []string, _ io.Writer) (int, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}
		waits := func(ctx context.Context, _ []string, _ io.Writer) (int, error) {
			<-ctx.Done()
			return 0, fmt.Errorf("%w: %w", dockertools.ErrExecNotStarted, context.Cause(ctx))
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, errors.New("no answer within 5s"))
		defer cancel()
		want(t, Probe(ctx, execProbe, Target{Exec: hangs}), `unhealthy: run "check": no answer within 5s`)
		want(t, Probe(ctx, execProbe, Target{Exec: waits}), `unknown: run "check": the command was not started: no answer within 5s`)

		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(errors.New("the kubelet stops")) })
		want(t, Probe(ctx, execProbe, Target{Exec: hangs}), `unknown: run "check": the kubelet stops`)
	})
}

func TestNoActionIsUnknown(t *testing.T) {
	const text = "unknown: there is nothing to do: name an action"
	want(t, Probe(t.Context(), &api.Probe{}, local), text)
	want(t, RunHandler(t.Context(), &api.Handler{Exec: &api.ExecAction{}}, local), text)
}
