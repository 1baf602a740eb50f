package browser

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"kubelet14/api/unittest"
)

// planIsShown reports whether any plan can be seen on the page.
const planIsShown = `[...document.querySelectorAll('.act')].some(act => act.checkVisibility())`

// say chooses what happens to the n-th container of a plan.
func (b *tab) say(place string, n int, what string) {
	b.h.T.Helper()
	eval[any](b, fmt.Sprintf(`(select => { select.value = %q; select.dispatchEvent(new Event('change', {bubbles: true})) })(document.querySelectorAll(%q)[%d])`,
		what, place+" select", n))
}

// A plan is hidden until somebody has said what happens to each container, in -step and in a replay; then both are shown.
func TestIntegrationPagePredictsFirst(t *testing.T) {
	h := newHost(t, "-step")
	b := h.open(h.link())
	b.click(at("predict-first"))
	pod := "version: v1beta1\nid: web\ncontainers: [{name: a, image: %[1]s, command: [/hello, %[2]s]}, {name: b, image: %[1]s, command: [/hello, sleep]}]\n"
	h.Write("web", fmt.Sprintf(pod, hello, "sleep"))
	const waiting, place = "waiting-web.default.file", "#waiting-web\\.default\\.file .predict"
	b.shows(waiting, "waiting", "What happens to it?")
	b.fits("predict-step")
	b.do(chromedp.KeyEvent("c"))
	b.fits("predict-step-class")
	b.do(chromedp.KeyEvent("c"))
	for n := range 3 { // with the network container
		if eval[bool](b, planIsShown) {
			t.Error("the plan is shown before the whole guess")
		}
		b.say(place, n, "starts")
	}
	b.shows(waiting, "waiting", "a You said: an attempt starts ✓", "create attempt 1")
	if !eval[bool](b, planIsShown) {
		t.Error("the plan is hidden after the guess")
	}
	b.click(at("all-web.default.file"))
	b.shows(webPod, "pod good")

	// An edit asks anew. A patch of the page keeps what was said so far.
	h.Write("web", fmt.Sprintf(pod, hello, "serve"))
	b.shows(waiting, "waiting", "What happens to it?")
	b.say(place, 0, "replaced")
	h.write("another", hello, "sleep")
	b.shows("pod-another.default.file", "pod busy")
	b.say(place, 1, "replaced")
	b.shows(waiting, "waiting", "a You said: a new attempt replaces it ✓", "b You said: a new attempt replaces it ✗ The plan: it stays as it is")
	b.fits("predict-told")
	b.click(at("all-web.default.file"))
	b.shows("change-list", "", "web.yaml was edited")

	// A replay stops at its plan, and goes on when that was guessed.
	b.look(1360, "light", "no-preference")
	eval[any](b, `[...document.querySelectorAll('#change-list a')].find(a => a.textContent === 'web.yaml was edited').click()`)
	b.click(at("to-plan"))
	b.shows("predict", "predict asks", "What happens to it?")
	b.fits("predict-replay")
	eval[any](b, `goTo(0), byId('pace').value = 1, play()`)
	h.Await("the replay stops at the plan", func() error {
		if eval[bool](b, `playing`) || b.stage().Kind == "read" {
			return fmt.Errorf("it is at %+v", b.stage())
		}
		return nil
	})
	if s := b.stage(); s.Kind != "wait" && s.Kind != "plan" || eval[bool](b, planIsShown) {
		t.Errorf("it has stopped at %+v", s)
	}
	b.say("#predict", 0, "replaced")
	b.say("#predict", 1, "stays")
	b.shows("predict", "predict", "a You said: a new attempt replaces it ✓", "b You said: it stays as it is ✓")
	b.hasNoErrors()
}

// One key leaves the picture, the sentence and the comparison, in large letters.
func TestIntegrationPageForAClass(t *testing.T) {
	h := newHost(t)
	h.write("web", hello, "serve")
	b := h.open(h.link())
	b.shows(webPod, "pod good")
	b.shows("change-list", "", "web.yaml is new")
	b.do(chromedp.KeyEvent("c"))
	for _, hidden := range []string{"summary", "changes", "below"} {
		if eval[bool](b, fmt.Sprintf(`byId(%q).checkVisibility()`, hidden)) {
			t.Errorf("the class sees %s", hidden)
		}
	}
	for _, width := range []int64{1360, 1920, 360} {
		b.look(width, "light", "reduce")
		b.fits(fmt.Sprint("class-rest-", width))
	}
	b.look(1360, "light", "reduce")
	eval[any](b, `openChange(newestChange())`)
	h.Await("the replay is open", func() error { return unittest.HasWords(eval[string](b, `caption.innerText`), "Source file") })
	b.click(at("to-plan"))
	b.shows("caption", "", "plan.Make compares")
	for _, width := range []int64{1360, 1920} {
		b.look(width, "light", "reduce")
		b.fits(fmt.Sprint("class-plan-", width))
	}
	b.do(chromedp.KeyEvent("c"), chromedp.KeyEvent(kb.Escape))
	if !eval[bool](b, `byId('summary').checkVisibility() && player.hidden`) {
		t.Error("the key does not lead back")
	}
	b.hasNoErrors()
}

// With -step a class breaks things by buttons, each of which shows its command, and sees the plan that follows.
func TestIntegrationPageBreaksThings(t *testing.T) {
	h := newHost(t, "-step")
	h.Write("web", fmt.Sprintf("version: v1beta1\nid: web\ncontainers: [{name: main, image: %s, command: [/hello, sleep], env: [{name: A, value: b}]}]\n", hello))
	b := h.open(h.link())
	const waiting = "waiting-web.default.file"
	do := func() {
		t.Helper()
		b.click(at("all-web.default.file"))
		b.shows("rest", "", "Nothing to do right now")
	}
	press := func(title string) {
		t.Helper()
		h.Await(title, func() error {
			if !eval[bool](b, fmt.Sprintf(`(button => (button?.click(), !!button))([...document.querySelectorAll('#break button')].find(button => button.textContent === %q))`, title)) {
				return errors.New("there is no such button")
			}
			return nil
		})
	}
	b.shows(waiting, "waiting", "create attempt 1")
	do()
	b.do(chromedp.Click(chromedp.CSS("#break summary")))
	for name, width := range map[string]int64{"light": 1360, "dark": 1360, "phone": 360} {
		b.look(width, map[bool]string{true: "dark", false: "light"}[name == "dark"], "reduce")
		b.fits("break-" + name)
	}
	press("Kill main of web")
	b.shows(waiting, "waiting", "exit code 137", "create attempt 2")
	do()
	press("Edit web.yaml")
	b.shows(waiting, "waiting", "env A changed", "create attempt")
	do()
	press("A typo in web.yaml")
	b.shows("source-file", "source bad", "failing")
	press("Repair web.yaml")
	b.shows("source-file", "source good")
	press("Take away web.yaml")
	b.shows(waiting, "waiting", "stop attempt", "its pod is no longer wanted")
	press("Bring back web.yaml")
	b.shows(webPod, "pod good", "running")
	b.hasNoErrors()
}
