package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a tab of a browser of its own, with a person before it.
type tab struct {
	h   *host
	ctx context.Context

	mu    sync.Mutex
	wrong []string // what the browser has complained of
}

// open opens the page in a new browser, which is closed when the test ends.
func (h *host) open(address string) *tab {
	h.t.Helper()
	path := chromium(h.t)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1360, 900), chromedp.UserDataDir(h.path("browser")))...)
	h.t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	h.t.Cleanup(cancel)
	b := &tab{h: h, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		h.t.Fatal(err)
	}
	b.do(chromedp.Navigate(address))
	return b
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("there is no browser: apt-get install -y --no-install-recommends chromium")
	return ""
}

// listen remembers errors of scripts, refusals of the content security policy and
// requests that failed.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, fmt.Sprintf("%s at %s:%d", e.ExceptionDetails.Text, e.ExceptionDetails.URL, e.ExceptionDetails.LineNumber+1))
	case *runtime.EventConsoleAPICalled:
		b.wrong = append(b.wrong, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.wrong = append(b.wrong, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	}
}

// complaints are those since the last call.
func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	wrong := b.wrong
	b.wrong = nil
	return wrong
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.h.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.h.t.Fatal(err)
	}
}

// get runs an action that gives a value.
func get[T any](b *tab, action chromedp.Action[T]) T {
	b.h.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.h.t.Fatal(err)
	}
	return value
}

// at is the element with an id, which may have dots in it.
func at(id string) chromedp.CSS { return chromedp.CSS(fmt.Sprintf("[id=%q]", id)) }

// eval gives the value of an expression on the page.
func eval[T any](b *tab, expression string) T {
	b.h.t.Helper()
	return get(b, chromedp.Evaluate[T](expression))
}

// shows waits until the element with an id has all the words, and no class but these.
func (b *tab) shows(id, class string, words ...string) {
	b.h.t.Helper()
	b.h.eventually(fmt.Sprintf("the page shows %s %q", id, words), func() error {
		seen := eval[struct{ Text, Class string }](b, fmt.Sprintf(`(e => ({Text: e?.innerText ?? "", Class: e?.className ?? ""}))(document.getElementById(%q))`, id))
		var missing []error
		for _, word := range words {
			if !strings.Contains(seen.Text, word) {
				missing = append(missing, fmt.Errorf("%q is missing in %q", word, seen.Text))
			}
		}
		if class != "" && seen.Class != class {
			missing = append(missing, fmt.Errorf("its class is %q, want %q", seen.Class, class))
		}
		return errors.Join(missing...)
	})
}

// gone waits until no element has an id.
func (b *tab) gone(id string) {
	b.h.t.Helper()
	b.h.eventually("the page has no "+id, func() error {
		if eval[bool](b, fmt.Sprintf(`document.getElementById(%q) !== null`, id)) {
			return errors.New("it is there")
		}
		return nil
	})
}

// keep makes a picture for people: go test -artifacts keeps it.
func (b *tab) keep(name string, picture chromedp.Action[[]byte]) {
	b.h.t.Helper()
	if err := os.WriteFile(filepath.Join(b.h.t.ArtifactDir(), name+".png"), get(b, picture), 0o644); err != nil {
		b.h.t.Fatal(err)
	}
}

// command runs one of the browser's own.
func command[P any](c cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// prefers is dark or light, what a person's system is set to.
func prefers(scheme string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// phone is a narrow one.
func phone() chromedp.Action[chromedp.Void] {
	return command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 740, DeviceScaleFactor: 2, Mobile: true})
}
