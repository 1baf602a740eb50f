package browser

import (
	"fmt"
	"strings"
	"testing"

	"kubelet14/api/unittest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tells walks through the replay of the last change, of a pod or of all, and returns its stages and what the page shows at each.
func (b *tab) tells(pod string) (kinds string, shown []string) {
	b.h.T.Helper()
	b.click(chromedp.CSS("#change-list a"))
	b.shows("caption", "", "Source file")
	if pod != "" {
		b.click(at("story-of-" + pod))
		b.shows("who", "", "all, as a sum")
		b.h.Await("the story of "+pod, func() error {
			return unittest.HasWords(eval[string](b, `document.querySelector('#who [aria-current]').dataset.pod`), pod)
		})
	}
	n := eval[int](b, `stages.length`)
	for i := range n {
		eval[any](b, fmt.Sprintf("goTo(%d)", i))
		kinds += b.stage().Kind + " "
		shown = append(shown, eval[string](b, `caption.innerText + byId('compare').innerText`))
	}
	return kinds, shown
}

// Twenty pods that start at once are a story of a few stages: as a sum, and of each pod.
func TestIntegrationPageTellsOfTwentyPods(t *testing.T) {
	h := newHost(t)
	b := h.open(h.link())
	h.writeMany(20)
	b.shows("health", "", "20 of 20 pods are up")
	b.shows("change-list", "", "20 pods changed")
	b.look(1360, "light", "reduce")
	kinds, shown := b.tells("")
	text := strings.Join(shown, "\n")
	if n := len(shown); n > 40 || !strings.Contains(text, "The workers tell Docker to start containers of 20 pods") || strings.Contains(text, "more events were not kept") {
		t.Errorf("the sum has %d stages: %s\n%s", n, kinds, text)
	}
	eval[any](b, `goTo(stages.findIndex(stage => stage.dataset.kind === 'begin'))`)
	if n := eval[int](b, `document.querySelectorAll('.workers .acts').length`); n != 20 {
		t.Errorf("in the sum %d workers are busy", n)
	}
	b.fits("20-pods-sum")
	b.do(chromedp.KeyEvent(kb.Escape))
	kinds, shown = b.tells("p07.default.file")
	if text := strings.Join(shown, "\n"); len(shown) > 40 || !strings.Contains(text, "create attempt 1 of main") || strings.Contains(text, "p06") {
		t.Errorf("the story of one has %d stages: %s\n%s", len(shown), kinds, text)
	}
	eval[any](b, `goTo(stages.findIndex(stage => stage.dataset.kind === 'plan'))`)
	b.fits("20-pods-one")
	// A reload keeps the change, the pod and the stage; one that is gone is said to be.
	before := b.stage()
	b.load(chromedp.Reload())
	b.shows("caption", "", before.Say[:20])
	if pod := eval[string](b, `ofPod`); b.stage() != before || pod != "p07.default.file" {
		t.Errorf("after a reload the replay of %s is at %+v, want %+v", pod, b.stage(), before)
	}
	b.visit("about:blank")
	b.visit(h.link() + "#replay=999@4&pod=%")
	b.shows("gone", "", "The change of this link is gone")
	b.hasNoErrors()
}

// A container that does not end when it is asked to gets ten seconds. The page shows how it goes on, and its replay what the loop knew.
func TestIntegrationPageTellsOfASlowStop(t *testing.T) {
	h := newHost(t)
	h.write("web", hello, `sleep, "-ignore-term"`)
	b := h.open(h.link())
	b.shows(webPod, "pod good")
	b.shows("change-list", "", "web.yaml is new") // what follows is another change
	h.write("web", hello, "serve")
	b.shows(container, "container busy differs", "1 running A", "2 created B", "Stopping: attempt 1 has until")
	b.look(1360, "light", "reduce")
	b.fits("slow-stop-live")
	b.shows("change-list", "", "web.yaml was edited")
	kinds, shown := b.tells("")
	if text := strings.Join(shown, "\n"); len(shown) > 40 || strings.Count(kinds, "skip") > 3 || !strings.Contains(text, "Stopping attempt 1 of main took 10") {
		t.Errorf("a slow stop has %d stages: %s\n%s", len(shown), kinds, text)
	}
	if !eval[bool](b, `[...byId('real').children].sort((x, y) => y.style.flexGrow - x.style.flexGrow)[0].classList.contains('docker')`) {
		t.Error("the bar shows the time of the stop as the kubelet's")
	}
	eval[any](b, `goTo(stages.findLastIndex(stage => stage.dataset.kind === 'skip'))`)
	b.shows("compare", "", "1 running A", "2 created B", "≠", "stop attempt 1")
	b.fits("slow-stop-replay")

	// The log of the container is beside its stages. Escape closes it, and then the replay.
	b.click(chromedp.CSS("#compare a.log-link"))
	b.shows("log-text", "", "serving on")
	b.keep("replay-log", chromedp.CaptureScreenshot())
	b.do(chromedp.KeyEvent(kb.Escape))
	if !eval[bool](b, `log.hidden && !player.hidden`) {
		t.Error("Escape does not close the log alone")
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	if !eval[bool](b, `player.hidden`) {
		t.Error("a second Escape does not end the replay")
	}
	b.hasNoErrors()
}
