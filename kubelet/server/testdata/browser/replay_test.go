package browser

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// look sets what the window is like, and whether things may move in it.
func (b *tab) look(width int64, scheme, motion string) {
	b.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
	}}), command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500,
	}))
}

// fits checks that texts can be read and that the page is not wider than the window, and makes a picture.
func (b *tab) fits(name string) {
	b.h.T.Helper()
	b.keep(name, chromedp.FullScreenshot(100))
	if pale := eval[[]string](b, tooPale); len(pale) > 0 {
		b.h.T.Errorf("%s: too pale: %q", name, pale)
	}
	if over := eval[int](b, `document.scrollingElement.scrollWidth - window.innerWidth`); over > 0 {
		b.h.T.Errorf("%s: the page is %d px wider than the window", name, over)
	}
}

// stage is what a replay shows.
func (b *tab) stage() (stage struct {
	Kind, Box, Say string
	At, Of         int
}) {
	b.h.T.Helper()
	return get(b, chromedp.Evaluate[struct {
		Kind, Box, Say string
		At, Of         int
	}](`({Kind: stages[Math.floor(at)].dataset.kind, Box: document.querySelector('.box.here').id, Say: caption.innerText, At: Math.floor(at), Of: stages.length})`))
}

func TestIntegrationPageReplaysAChange(t *testing.T) {
	h := newHost(t)
	h.write("web", hello, "sleep")
	b := h.open(h.link())
	b.shows(webPod, "pod good")
	b.shows("change-list", "", "web.yaml is new") // what follows is another change
	b.look(1360, "light", "reduce")
	h.write("web", hello, "serve")
	b.shows("change-list", "", "web.yaml was edited")

	// From a click on the change to its end by the keyboard: the mark is at the box of each stage.
	b.click(chromedp.CSS("#change-list a"))
	b.shows("caption", "", "has read its manifests", "config/source.go")
	var kinds []string
	eval[any](b, `goTo(0)`)
	for i := 0; ; i++ {
		s := b.stage()
		kinds = append(kinds, s.Kind)
		if s.At != i {
			t.Fatalf("after %d times → the replay is at %d", i, s.At)
		}
		if want := map[string]string{"read": "sources", "send": "mux", "merge": "storage", "plan": "loop", "work": "workers", "begin": "docker"}[s.Kind]; want != "" && s.Box != "box-"+want {
			t.Errorf("at %s the mark is at %s", s.Kind, s.Box)
		}
		switch {
		case s.Kind == "apply":
			b.shows("compare", "", "command changed", "?")
		case s.Kind == "plan":
			b.shows("compare", "", "runs until it succeeds B", "≠", "1 running A", "create attempt 2 B", "stop attempt 1", "start attempt 2")
			b.fits("replay-plan")
		case s.Kind == "end" && strings.Contains(s.Say, "Creating"):
			b.shows("compare", "", "1 running A", "2 created B not listed yet", "≠")
		case i == s.Of-1:
			b.shows("compare", "", "=", "nothing to do")
		}
		if i == s.Of-1 {
			break
		}
		b.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	for _, order := range []string{"read send mux merge update apply list listed plan work (list )?begin", "end (list listed skip )*ended", "list listed idle"} { // a list that comes before the worker has ended skips its pod
		if !regexp.MustCompile(order).MatchString(strings.ReplaceAll(strings.Join(kinds, " "), " event", "")) {
			t.Errorf("%s is not in %s", order, kinds)
		}
	}

	// A change of the page leaves the replay, its position and the keyboard where they are.
	b.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.Focus(at("pace")))
	before := b.stage()
	h.write("another", hello, "sleep")
	b.shows("pod-another.default.file", "pod good")
	b.hasFocus("pace")
	if after := b.stage(); after != before {
		t.Errorf("the replay was at %+v and is at %+v", before, after)
	}
	// A link leads to the moment, and Escape out of the replay.
	moment := eval[string](b, `location.href`)
	b.visit("about:blank")
	b.visit(moment)
	b.shows("caption", "", before.Say[:20])
	if got := b.stage(); got.At != before.At {
		t.Errorf("%s shows %+v", moment, got)
	}
	for name, width := range map[string]int64{"dark": 1360, "phone": 360} {
		b.look(width, map[string]string{"dark": "dark", "phone": "light"}[name], "reduce")
		eval[any](b, `goTo(stages.findIndex(stage => stage.dataset.kind === 'end'))`)
		b.fits("replay-" + name)
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	if !eval[bool](b, `player.hidden && byId('mark').hidden && !document.querySelector('.here') && location.hash === ''`) {
		t.Error("Escape does not end the replay")
	}
	// With motion it plays by itself, and pauses with the space bar.
	b.look(1360, "light", "no-preference")
	b.click(chromedp.CSS("#change-list a"))
	b.h.Await("the replay goes on", func() error {
		if b.h.T.Failed() || eval[bool](b, `playing && at > .3`) {
			return nil
		}
		return fmt.Errorf("it is at %v", eval[float64](b, `at`))
	})
	b.do(chromedp.KeyEvent(" "))
	if eval[bool](b, `playing`) {
		t.Error("the space bar does not pause")
	}
	b.hasNoErrors()
}

// A typo goes as far as podStorage, and a message with markup is text.
func TestIntegrationPageReplaysATypo(t *testing.T) {
	h := newHost(t)
	b := h.open(h.link())
	b.shows("hint", "", "kubelet14/hello:1")
	b.fits("no-pods")
	h.write("web", hello, "sleep")
	b.shows(webPod, "pod good")
	b.shows("change-list", "", "web.yaml is new") // what follows is another change
	h.Write("typo", "version: v1beta1\nid: a\n<b onmouseover=alert(1)>hi</b>: 1\ncontainers: []\n")
	b.shows("change-list", "", "Source file has errors")
	b.click(chromedp.CSS("#change-list a"))
	b.shows("caption", "", "Source file")
	eval[any](b, `goTo(0)`)
	b.shows("caption", "", "something cannot be read", "<b onmouseover")
	b.fits("typo-with-markup")
	if got := eval[string](b, `goTo(99), stages.map(stage => stage.dataset.kind).join(' ') + ' ' + caption.querySelector('[onmouseover]')`); got != "read send mux merge null" {
		t.Errorf("the stages of a typo are %s", got)
	}
	b.hasNoErrors()
}

// Two hundred pods: eight of them are real, the others copies of those.
func TestIntegrationPageFitsManyPods(t *testing.T) {
	h := newHost(t)
	h.writeMany(8)
	b := h.open(h.link())
	b.shows("health", "", "8 of 8 pods are up")
	b.shows("change-list", "", "pods changed")
	eval[any](b, `(() => {
	  stream.close();
	  for (let i = 8; i < 200; i++) for (const id of ['pod-p', 'worker-p']) {
	    const copy = byId(id + '0' + i % 8 + '.default.file').cloneNode(true);
	    copy.id = id + i;
	    byId(id + '07.default.file').parentElement.append(copy);
	  }
	})()`)
	for _, width := range []int64{1360, 360} {
		b.look(width, "light", "reduce")
		b.fits(fmt.Sprint("200-pods-", width))
	}
	// The story of many pods can be told as a sum, or of each.
	b.look(1360, "light", "reduce")
	b.click(chromedp.CSS("#change-list a"))
	b.shows("who", "", "all, as a sum")
	b.keep("many-sum", chromedp.CaptureScreenshot())
	b.hasNoErrors()
}

// With -step the page's buttons do what the terminal does.
func TestIntegrationPageAllowsAPlan(t *testing.T) {
	h := newHost(t, "-step")
	b := h.open(h.link())
	h.write("web", hello, "sleep")
	b.shows("waiting-"+"web.default.file", "waiting", "waits for you", "create attempt 1")
	b.shows("summary", "summary busy", "WaitsForStep")
	b.fits("step")
	b.click(at("first-web.default.file"))
	b.shows("waiting-web.default.file", "waiting", "1 created A", "start attempt 1")
	b.click(at("all-web.default.file"))
	b.shows(webPod, "pod good", "running")
	b.shows("rest", "", "Nothing to do right now")
	b.hasNoErrors()
}
