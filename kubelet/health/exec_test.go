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
	"unicode/utf8"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

func TestAnExecProbeIsJudgedByTheExitCode(t *testing.T) {
	for _, test := range []struct {
		target Target
		want   Result
	}{
		{execOf("", 0, nil), Result{Healthy, "exit code 0"}},
		{execOf("Fail\n", 0, nil), Result{Healthy, "exit code 0: Fail"}},
		{execOf("ok", 1, nil), Result{Unhealthy, `run "check": exit code 1: ok`}},
		{execOf(" \r\n", 137, nil), Result{Unhealthy, `run "check": exit code 137`}},
		{execOf("line 1\nline 2\n", 2, nil), Result{Unhealthy, `run "check": exit code 2: line 1 line 2`}},
		{execOf("half", 0, errGone), Result{Unknown, "no such container"}},
	} {
		wantResult(t, Probe(t.Context(), execProbe, test.target), test.want.Status, test.want.Output)
	}
}

func TestTheCommandIsPassedOn(t *testing.T) {
	var got []string
	target := Target{Exec: func(_ context.Context, command []string, _ io.Writer) (int, error) {
		got = command
		return 0, nil
	}}
	Probe(t.Context(), execProbe, target)
	if want := execProbe.Exec.Command; !slices.Equal(got, want) {
		t.Errorf("the container runs %q, want %q", got, want)
	}
}

// hanging is a container whose commands never end.
func hanging(ctx context.Context, _ []string, out io.Writer) (int, error) {
	io.WriteString(out, "busy")
	<-ctx.Done()
	return 0, context.Cause(ctx)
}

func TestACommandThatHangsIsUnhealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, errors.New("no answer within 5s"))
		defer cancel()
		wantResult(t, Probe(ctx, execProbe, Target{Exec: hanging}), Unhealthy, `run "check": no answer within 5s`)
	})
}

func TestACommandThatDockerKeepsWaitingIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, errors.New("no answer within 5s"))
		defer cancel()
		wantResult(t, Probe(ctx, execProbe, Target{Exec: func(ctx context.Context, command []string, _ io.Writer) (int, error) {
			<-ctx.Done()
			return 0, fmt.Errorf("run %q: %w: %w", command, dockertools.ErrExecNotStarted, context.Cause(ctx))
		}}), Unknown, `run ["check" "all"]: the command was not started: no answer within 5s`)
	})
}

func TestACommandThatIsGivenUpIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		time.AfterFunc(time.Second, cancel)
		wantResult(t, Probe(ctx, execProbe, Target{Exec: hanging}), Unknown, `run "check": context canceled`)
	})
}

func TestEndlessOutputCostsNoMemory(t *testing.T) {
	var out head
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 1 << 10 { // 1 GiB
		if n, err := out.Write(chunk); n != len(chunk) || err != nil {
			t.Fatalf("wrote %d, %v: the command would break off", n, err)
		}
	}
	if cap(out.kept) > 2*maxOutput {
		t.Errorf("%d bytes are held, want about %d", cap(out.kept), maxOutput)
	}
	if got, want := out.after(""), strings.Repeat("x", maxOutput)+"…"; got != want {
		t.Errorf("%d bytes are kept, want %d", len(got), len(want))
	}
}

func TestOutputIsMadeReadable(t *testing.T) {
	for name, test := range map[string]struct{ out, want string }{
		"colours":               {"\x1b[31mred\x1b[0m", "?[31mred?[0m"},
		"a bell and a null":     {"a\ab\x00c", "a?b?c"},
		"lines and tabs":        {"\ta\tb\r\n\n c\n", "a b c"},
		"C1 controls":           {"a\u009b2Jb", "a?2Jb"},
		"text turned round":     {"a\u202eb", "a?b"},
		"no UTF-8":              {"a\xffb", "a\ufffdb"},
		"much that is none":     {strings.Repeat("\xff", 600), strings.Repeat("\ufffd", 336) + "…"},
		"other scripts":         {"καλημέρα 世界", "καλημέρα 世界"},
		"just not cut":          {strings.Repeat("x", 1011), strings.Repeat("x", 1011)},
		"cut before a rune":     {strings.Repeat("x", 1008) + "éé", strings.Repeat("x", 1008) + "…"},
		"cut inside a rune":     {strings.Repeat("x", 1007) + "ééé", strings.Repeat("x", 1007) + "…"},
		"cut when written":      {"a" + strings.Repeat("\n", 1020) + "bcd", "a bcd"},
		"cut in a written rune": {"a" + strings.Repeat("\n", 1020) + "b世", "a b…"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Probe(t.Context(), execProbe, execOf(test.out, 0, nil)).Output
			if len(got) > maxOutput || !utf8.ValidString(got) {
				t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
			}
			if want := "exit code 0: " + test.want; got != want {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
		})
	}
}

func TestAHookThatRunsACommand(t *testing.T) {
	hook := &api.Handler{Exec: execProbe.Exec}
	if err := RunHandler(t.Context(), hook, execOf("done", 0, nil)); err != nil {
		t.Errorf("it failed: %v", err)
	}
	err := RunHandler(t.Context(), hook, execOf("no\x1b such file", 1, nil))
	if want := `run "check": exit code 1: no? such file`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := RunHandler(t.Context(), hook, execOf("", 0, errGone)); !errors.Is(err, errGone) {
		t.Errorf("%v, want %v", err, errGone)
	}
}

func TestWhatNamesNoActionIsUnknown(t *testing.T) {
	const want = "there is nothing to do: name an action"
	wantResult(t, Probe(t.Context(), &api.LivenessProbe{}, local), Unknown, want)
	for _, hook := range []*api.Handler{{}, {Exec: &api.ExecAction{}}} {
		if err := RunHandler(t.Context(), hook, local); err == nil || err.Error() != want {
			t.Errorf("hook %v: %v, want %s", hook, err, want)
		}
	}
}
