package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// tooPale lists texts that one can hardly read: a contrast below 4.5, what WCAG 2 asks for.
const tooPale = `(() => {
  const channel = c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const rgb = colour => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3) return c;
    }
    return [255, 255, 255];
  };
  const pale = [];
  for (const e of document.querySelectorAll('body *')) {
    const words = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join('');
    if (!words || !e.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))];
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (contrast < 4.5) pale.push(words.slice(0, 40) + ': ' + contrast.toFixed(2));
  }
  return pale;
})()`

// There is something of each colour: a pod that runs, one that has ended, one that cannot
// be, and a file that cannot be read.
func TestIntegrationPageLooksGoodEverywhere(t *testing.T) {
	h := newHost(t)
	h.write("web.yaml", web(hello, freePort(t)))
	h.write("once.yaml", "version: v1beta1\nid: once\nrestartPolicy: {never: {}}\ncontainers: [{name: job, image: "+hello+", command: [/hello, env]}]\n")
	h.write("crash.yaml", "version: v1beta1\nid: crash\ncontainers: [{name: main, image: "+hello+", command: [/hello, exit, '3']}]\n")
	h.write("typo.yaml", "version: v1beta1\nid: typo\ncontainers:\n  - {name: main, imgae: nothing}\n")
	b := h.open(h.link())
	b.shows("status", "", "Live")
	b.shows("pod-once.default.file", "pod done", "succeeded")
	b.shows("pod-crash.default.file", "pod bad", "exit code 3", "next try in")
	b.shows("source-file", "source bad", "failing")
	b.shows(webPod, "pod good", "It may be older than its manifest", "running for")

	for _, look := range []struct {
		name string
		set  []chromedp.Action[chromedp.Void]
	}{
		{"light", []chromedp.Action[chromedp.Void]{prefers("light")}},
		{"dark", []chromedp.Action[chromedp.Void]{prefers("dark")}},
		{"phone-dark", []chromedp.Action[chromedp.Void]{prefers("dark"), phone()}},
		{"phone-light", []chromedp.Action[chromedp.Void]{prefers("light"), phone()}},
	} {
		b.do(look.set...)
		b.keep(look.name, chromedp.FullScreenshot(100))
		if pale := eval[[]string](b, tooPale); len(pale) > 0 {
			t.Errorf("%s: too pale: %q", look.name, pale)
		}
		if over := eval[int](b, `document.scrollingElement.scrollWidth - window.innerWidth`); over > 0 {
			t.Errorf("%s: the page is %d px wider than the window", look.name, over)
		}
	}
	if wrong := b.complaints(); len(wrong) > 0 {
		t.Errorf("the browser complains: %q", wrong)
	}
}

// The script counts on in the words of the server; the table is that of the server's test.
func TestIntegrationPageCountsInTheServersWords(t *testing.T) {
	h := newHost(t)
	b := h.open(h.url)
	for milliseconds, want := range map[int]string{
		-500: "0 s", 0: "0 s", 59_999: "59 s", 60_000: "1 min", 3599_000: "59 min", 3600_000: "1 h", 47*3600_000 + 59*60_000: "47 h", 48 * 3600_000: "2 days", 2400 * 3600_000: "100 days",
	} {
		if got := eval[string](b, fmt.Sprintf("age(%d)", milliseconds)); got != want {
			t.Errorf("%d ms are %q, want %q", milliseconds, got, want)
		}
	}
}
