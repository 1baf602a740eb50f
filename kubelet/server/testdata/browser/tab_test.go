package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"kubelet14/api/unittest"
)

// tab is a tab of a browser of its own.
type tab struct {
	h   *host
	ctx context.Context

	mu     sync.Mutex
	errors []string // of scripts, of the content security policy and of requests
	cut    bool     // a request was given up since the last visit
}

// open opens the page in a new browser, which is closed when the test ends.
func (h *host) open(address string) *tab {
	h.T.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		h.T.Fatalf("%v: apt-get install -y --no-install-recommends chromium", err)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1360, 900), chromedp.UserDataDir(filepath.Join(h.Dir, "browser")))...)
	h.T.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	h.T.Cleanup(cancel)
	h.T.Cleanup(func() { // a browser that is killed leaves a directory in /tmp
		ctx, cancel := context.WithTimeout(ctx, unittest.Limit())
		defer cancel()
		if err := chromedp.Cancel(ctx); err != nil {
			h.T.Errorf("close the browser: %v", err)
		}
	})
	b := &tab{h: h, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		h.T.Fatal(err)
	}
	b.visit(address)
	return b
}

// visit opens an address in the same tab.
func (b *tab) visit(address string) {
	b.h.T.Helper()
	b.load(chromedp.Navigate(address))
}

// load opens a page, again while the browser gives up requests for its files: it does so when an interface of the host gets an
// address, and each container that starts has one.
func (b *tab) load(page chromedp.Action[chromedp.Void]) {
	b.h.T.Helper()
	b.h.Await("the browser loads the page", func() error {
		b.mu.Lock()
		b.cut = false
		b.mu.Unlock()
		_, err := try(b, page)
		b.mu.Lock()
		defer b.mu.Unlock()
		if err == nil && b.cut {
			err = errors.New(networkChanged)
		}
		return err
	})
}

const networkChanged = "net::ERR_NETWORK_CHANGED"

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, fmt.Sprintf("%s at %s:%d", e.ExceptionDetails.Text, e.ExceptionDetails.URL, e.ExceptionDetails.LineNumber+1))
	case *runtime.EventConsoleAPICalled:
		b.errors = append(b.errors, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, networkChanged) {
			b.cut = true
		} else if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.errors = append(b.errors, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	}
}

// reports waits until the browser reports an error with a text, which it may do after its page shows that, and forgets it.
func (b *tab) reports(text string) {
	b.h.T.Helper()
	b.h.Await("the browser reports "+text, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		at := slices.IndexFunc(b.errors, func(e string) bool { return strings.Contains(e, text) })
		if at < 0 {
			return fmt.Errorf("it reports %q", b.errors)
		}
		b.errors = slices.Delete(b.errors, at, at+1)
		return nil
	})
}

// hasNoErrors fails the test for the errors since its last call.
func (b *tab) hasNoErrors() {
	b.h.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) > 0 {
		b.h.T.Errorf("the browser reports %q", b.errors)
	}
	b.errors = nil
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.h.T.Helper()
	for _, action := range actions {
		get(b, action)
	}
}

// try runs an action that returns a value.
func try[T any](b *tab, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, unittest.Limit())
	defer cancel()
	return chromedp.Run(ctx, action)
}

// get runs an action that must not fail.
func get[T any](b *tab, action chromedp.Action[T]) T {
	b.h.T.Helper()
	value, err := try(b, action)
	unittest.Must(b.h.T, err)
	return value
}

// at selects the element with an id, which may have dots in it.
func at(id string) chromedp.CSS { return chromedp.CSS(fmt.Sprintf("[id=%q]", id)) }

// eval returns the value of an expression on the page.
func eval[T any](b *tab, expression string) T {
	b.h.T.Helper()
	return get(b, chromedp.Evaluate[T](expression))
}

// shows waits until the element with an id has all the texts, and the class unless that is empty.
func (b *tab) shows(id, class string, texts ...string) {
	b.h.T.Helper()
	b.h.Await(fmt.Sprintf("the page shows %s %s %q", id, class, texts), func() error {
		seen, err := try(b, chromedp.Evaluate[struct{ Text, Class string }](fmt.Sprintf(
			`(e => ({Text: e?.innerText ?? "", Class: e?.className ?? ""}))(document.getElementById(%q))`, id)))
		if err != nil {
			return err // such as: the page is just being loaded anew
		}
		if class != "" && seen.Class != class {
			return fmt.Errorf("its class is %q", seen.Class)
		}
		return unittest.HasWords(seen.Text, texts...)
	})
}

// click clicks on an element, and again if the page has moved or replaced it meanwhile: the mouse is pressed where it was.
func (b *tab) click(element chromedp.CSS) {
	b.h.T.Helper()
	b.h.Await(fmt.Sprintf("a click on %s", element), func() error {
		eval[any](b, fmt.Sprintf(`window.met = "nothing"
addEventListener("click", e => { met = e.target.closest(%q) ? "it" : e.target.outerHTML }, {capture: true, once: true})`, element))
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		defer cancel()
		if _, err := chromedp.Run(ctx, chromedp.Click(element)); err != nil {
			return err // one that is replaced never becomes ready
		}
		if met := eval[string](b, `met`); met != "it" {
			return fmt.Errorf("it met %s", met)
		}
		return nil
	})
}

// hasFocus checks where the keyboard is.
func (b *tab) hasFocus(id string) {
	b.h.T.Helper()
	if at := eval[string](b, `document.activeElement.id`); at != id {
		b.h.T.Errorf("the keyboard is at %q, want %q", at, id)
	}
}

// keep makes a picture for people: go test -artifacts keeps it.
func (b *tab) keep(name string, picture chromedp.Action[[]byte]) {
	b.h.T.Helper()
	unittest.Must(b.h.T, os.WriteFile(filepath.Join(b.h.T.ArtifactDir(), name+".png"), get(b, picture), 0o644))
}

// command runs one of the browser's own.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}
