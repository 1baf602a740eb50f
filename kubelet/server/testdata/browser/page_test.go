package browser

import (
	"errors"
	"fmt"
	"testing"

	"kubelet14/api/unittest"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	hello     = "kubelet14/hello:1"
	webPod    = "pod-web.default.file"
	container = "container-web.default.file-0"
	link      = "log-web.default.file-0"
)

func TestIntegrationPageFollowsAPodWithoutReload(t *testing.T) {
	h := newHost(t)
	b := h.open(h.link())
	b.shows("pods", "", "There are none")
	b.shows("status", "", "Live")
	eval[bool](b, `window.sameAllTheTime = true`)

	h.write("web", hello, "serve")
	b.shows(webPod, "pod good", "web", "running")
	b.shows("event-list", "", "SET", "started")

	// An image that is missing: the old container goes on, and the page shows the problem.
	h.write("web", "kubelet14/nowhere:1", "serve")
	b.shows(container, "container busy differs", "running", "No such image")
	b.shows("box-loop", "", "UPDATE")

	// A command that fails, and its repair by an edit.
	h.write("web", hello, `exit, "3"`)
	b.shows(webPod, "pod bad")
	b.shows(container, "container bad differs", "exit code 3", "restart")
	h.write("web", hello, "serve")
	b.shows(webPod, "pod good", "running", "Before")

	if !eval[bool](b, `window.sameAllTheTime === true`) {
		t.Error("the page was loaded anew")
	}
	b.hasNoErrors()

	// When its kubelet is stopped the page shows that, and it shows the state of the next one.
	h.kubelet.Stop()
	b.shows("status", "", "No answer from the kubelet; trying again")
	h.start()
	b.shows("no-key", "", "The kubelet was restarted", "kubelet14 -status -token_file="+h.RootDir+"/token -address=127.0.0.1 -port="+h.port)
	h.Await("a page without the key, which stays as it was loaded, has the pod", func() error {
		b.visit(h.url)
		return unittest.HasWords(eval[string](b, `document.body.innerText`), "The pod is up")
	})
}

// A browser that blocks the data of sites has no storage, and a link can end in anything.
func TestIntegrationPageIsLiveWithoutStorage(t *testing.T) {
	h := newHost(t)
	b := h.open("about:blank")
	b.do(command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `Object.defineProperty(window, "localStorage", {get() { throw new Error("blocked") }})`,
	}))
	b.visit(h.link() + "#%")
	b.shows("status", "", "Live")
	b.reports("Uncaught")
	b.hasNoErrors()
}

func TestIntegrationPageShowsALog(t *testing.T) {
	h := newHost(t)
	h.write("web", hello, "serve")
	// Without the key the page shows how to get access, and what it was when it was loaded.
	b := h.open(h.url)
	b.shows("no-key", "", "kubelet14 -status -token_file=")
	b.shows("status", "", "reload to see changes")

	// With it, the end of the log is there, by the keyboard too.
	b.visit(h.link())
	b.shows("status", "", "Live")
	b.do(chromedp.Focus(at(link)), chromedp.KeyEvent(kb.Enter))
	b.shows("log-text", "", "serving on")
	b.shows("log-title", "", "Log of container main of pod web")
	b.keep("log", chromedp.CaptureScreenshot())

	// The open log and the keyboard's focus stay when the page changes around them.
	b.do(chromedp.Focus(at(link)))
	h.write("another", hello, "sleep")
	b.shows("pod-another.default.file", "pod good")
	b.hasFocus(link)
	b.shows("log-text", "", "serving on")

	// Escape closes the log, and leads back to its link.
	b.do(chromedp.Focus(at("log-close")), chromedp.KeyEvent(kb.Escape))
	b.hasFocus(link)
	if !eval[bool](b, `document.getElementById("log").hidden`) {
		t.Error("the log is still open")
	}
	b.hasNoErrors()
}

func TestIntegrationPageWithoutScript(t *testing.T) {
	h := newHost(t)
	h.write("web", hello, "serve")
	b := h.open("about:blank")
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	h.Await("the page shows the pod", func() error {
		b.visit(h.link())
		return unittest.HasWords(eval[string](b, `document.body.innerText`), "reload to see changes", "for ", "podStorage", "started")
	})
	b.fits("no-script")
	// Nothing here waits for an element: the page may have no link yet, and it stays as it was loaded.
	follow := func(selector string, texts ...string) {
		t.Helper()
		h.Await("the link leads to what it says", func() error {
			b.visit(h.link())
			href := eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.href ?? ""`, selector))
			if href == "" {
				return errors.New("there is none")
			}
			b.visit(href)
			return unittest.HasWords(eval[string](b, `document.body.textContent`), texts...)
		})
	}
	follow("#change-list a", "Source file has read its manifests", "nothing to do")
	b.fits("no-script-change")
	follow("[id='"+link+"']", "serving on")
}

// tooPale lists texts with a contrast below 4.5, which WCAG 2 asks for.
const tooPale = `(() => {
  const channel = c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const rgb = colour => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const ground = e => {
    const colour = e ? rgb(getComputedStyle(e).backgroundColor) : [255, 255, 255];
    return colour.length === 3 ? colour : ground(e.parentElement);
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

// There is something of each colour: a pod that runs, one that has ended, one that fails, and a file that cannot be read.
func TestIntegrationPageLooksGoodEverywhere(t *testing.T) {
	h := newHost(t)
	h.write("web", hello, "serve")
	h.write("once", hello, "env")
	h.write("crash", hello, `exit, "3"`)
	b := h.open(h.link())
	b.shows("status", "", "Live")
	b.shows("pod-once.default.file", "pod done", "succeeded")
	b.shows("pod-crash.default.file", "pod bad", "exit code 3", "next try in")
	b.shows(webPod, "pod good")
	h.write("web", "{}", "serve") // its image is no name
	b.shows("source-file", "source bad", "failing")
	b.shows(webPod, "pod good stale", "It may be older than its manifest", "running")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1360, 360} {
			b.look(width, scheme, "no-preference")
			b.fits(fmt.Sprint(scheme, "-", width))
		}
	}
	// A change keeps the elements that stay, and rows that are open.
	const patched = `(() => {
	  const parse = html => new DOMParser().parseFromString(html, 'text/html').body;
	  const old = parse('<p id=a>1</p> <details id=b open>2</details> <p id=c>3</p> <p id=d>4</p>'), kept = [...old.children];
	  patchChildren(old, parse('<p id=c>5</p> <p>6</p> <p id=e>7</p> <details id=b>8</details> <p id=d>9</p>'));
	  return old.innerHTML + [...old.children].map(child => kept.indexOf(child));
	})()`
	const want = `<p id="c">5</p> <p>6</p> <p id="e">7</p> <details id="b" open="">8</details> <p id="d">9</p>2,-1,-1,1,3`
	if got := eval[string](b, patched); got != want {
		t.Errorf("the patched elements are %s, want %s", got, want)
	}
	// The script counts on by the rule of the server's ageText.
	for milliseconds, want := range map[int]string{
		-500: "0 s", 59_999: "59 s", 60_000: "1 min", 3599_000: "59 min", 3600_000: "1 h", 47 * 3600_000: "47 h", 48 * 3600_000: "2 days",
	} {
		if got := eval[string](b, fmt.Sprintf("age(%d)", milliseconds)); got != want {
			t.Errorf("%d ms are %q, want %q", milliseconds, got, want)
		}
	}
	if got := eval[int](b, `appendLog("x".repeat(2 * logMost)), logText.textContent.length - logMost`); got != 0 {
		t.Errorf("the page keeps %d characters too many of a log without line breaks", got)
	}
	b.hasNoErrors()
}
