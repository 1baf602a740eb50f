package browser

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	hello  = "kubelet14/hello:1"
	webPod = "pod-web.default.file"
	server = "container-web.default.file-0"
	link   = "log-web.default.file-0"
)

func TestIntegrationPageFollowsAPodWithoutReload(t *testing.T) {
	h := newHost(t)
	port := freePort(t)
	b := h.open(h.url)
	b.shows("pods", "", "There are none")
	b.shows("status", "", "Live")
	eval[bool](b, `window.sameAllTheTime = true`)

	h.write("web.yaml", web(hello, port))
	b.shows(webPod, "pod good", "web", "running")
	b.shows("event-list", "", "SET", "started")

	// An image that is missing: the old container goes on, and the page shows the problem.
	h.write("web.yaml", web("kubelet14/nowhere:1", port))
	b.shows(server, "container busy", "running", "No such image")
	b.shows("flow-loop", "", "UPDATE")

	// A command that fails, and its repair by an edit.
	h.write("web.yaml", strings.Replace(web(hello, port), `"serve", "-port", "8080"`, `"exit", "3"`, 1))
	b.shows(webPod, "pod bad")
	b.shows(server, "container bad", "waiting", "exit code 3", "restarts")
	h.write("web.yaml", web(hello, port))
	b.shows(webPod, "pod good", "running")

	// An unhealthy server is restarted.
	var attempt int
	text := eval[string](b, fmt.Sprintf(`document.getElementById(%q).querySelector(".restarts").innerText`, server))
	if _, err := fmt.Sscanf(text, "%d restart", &attempt); err != nil {
		t.Fatalf("the page shows %q: %v", text, err)
	}
	h.get(port, "/health?ok=false")
	b.shows("event-list", "", "unhealthy")
	b.shows(webPod, "pod good", "running", fmt.Sprintf("%d restarts", attempt+1), "Unhealthy")

	if !eval[bool](b, `window.sameAllTheTime === true`) {
		t.Error("the page was loaded anew")
	}
	b.hasNoErrors()
}

func TestIntegrationPageShowsALog(t *testing.T) {
	h := newHost(t)
	h.write("web.yaml", web(hello, freePort(t)))
	b := h.open(h.url)
	b.shows(webPod, "pod good")

	// Without the token the page shows how to get access.
	b.do(chromedp.Click(at(link)))
	b.shows("log-text", "", "needs the token in "+h.path("root/token"), "the page's address with /?token=")
	b.shows("log-note", "", "has no access yet")
	b.errors = nil // a 401 is one

	// With it, the end of the log is there, by the keyboard too.
	b.do(chromedp.Navigate(h.link()))
	if at := eval[string](b, `location.href`); at != h.url {
		t.Errorf("the token stays in the address: %s", at)
	}
	b.shows("status", "", "Live")
	b.do(chromedp.Focus(at(link)), chromedp.KeyEvent(kb.Enter))
	b.shows("log-text", "", "serving on")
	b.shows("log-title", "", "Log of container server of pod web")
	b.keep("log", chromedp.CaptureScreenshot())

	// The open log and the keyboard's focus stay when the page changes around them.
	b.do(chromedp.Focus(at(link)))
	h.write("other.yaml", "version: v1beta1\nid: another\ncontainers: [{name: main, image: "+hello+", command: [/hello, sleep]}]\n")
	b.shows("pod-another.default.file", "pod good")
	h.write("typo.yaml", "version: v1beta1\nid: typo\ncontainers: [{name: main, imgae: none}]\n")
	b.shows(webPod, "pod good", "It may be older than its manifest")
	if at := eval[string](b, `document.activeElement.id`); at != link {
		t.Errorf("the keyboard is at %q, want %q", at, link)
	}
	b.shows("log-text", "", "serving on")

	// Escape closes the log, and leads back to its link.
	b.do(chromedp.Focus(at("log-close")), chromedp.KeyEvent(kb.Escape))
	if at := eval[string](b, `document.getElementById("log").hidden ? document.activeElement.id : "the log is open"`); at != link {
		t.Errorf("the keyboard is at %q, want %q", at, link)
	}
	b.hasNoErrors()
}

func TestIntegrationPageShowsALostConnection(t *testing.T) {
	h := newHost(t)
	h.write("web.yaml", web(hello, freePort(t)))
	b := h.open(h.url)
	b.shows("status", "", "Live")
	u, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.Atoi(u.Port())
	h.stop()
	b.shows("status", "", "Cut off; trying again")
	h.start(port)
	b.shows("status", "", "Live")
	b.shows(webPod, "pod good")
}

func TestIntegrationPageWithoutScript(t *testing.T) {
	h := newHost(t)
	h.write("web.yaml", web(hello, freePort(t)))
	b := h.open("about:blank")
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	h.eventually("the page shows the pod", func() error {
		b.do(chromedp.Navigate(h.link()))
		body := get(b, chromedp.Text(chromedp.CSS("body")))
		for _, want := range []string{"reload to see changes", "running for", "SyncPods", "started"} {
			if !strings.Contains(body, want) {
				return fmt.Errorf("%q is missing in %s", want, body)
			}
		}
		return nil
	})
	h.eventually("the link leads to the log", func() error {
		// A browser shows a plain text as a pre alone; one that is still empty is not visible.
		b.do(chromedp.Navigate(h.url), chromedp.Click(at(link)), chromedp.WaitReady(chromedp.CSS("body > pre:only-child")))
		if log := get(b, chromedp.TextContent(chromedp.CSS("body"))); !strings.Contains(log, "serving on") {
			return fmt.Errorf("it is %q", log)
		}
		return nil
	})
}

// tooPale lists texts with a contrast below 4.5, which WCAG 2 asks for.
const tooPale = `(() => {
  const channel = c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const rgb = colour => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const ground = e => {
    for (; e; e = e.parentElement) if (rgb(getComputedStyle(e).backgroundColor).length === 3) return rgb(getComputedStyle(e).backgroundColor);
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

// There is something of each colour: a pod that runs, one that has ended, one that fails, and a file that cannot be read.
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
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1360, 360} {
			b.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
				command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 740, DeviceScaleFactor: 2, Mobile: width < 500}))
			b.keep(fmt.Sprint(scheme, "-", width), chromedp.FullScreenshot(100))
			if pale := eval[[]string](b, tooPale); len(pale) > 0 {
				t.Errorf("%s, %d px: too pale: %q", scheme, width, pale)
			}
			if over := eval[int](b, `document.scrollingElement.scrollWidth - window.innerWidth`); over > 0 {
				t.Errorf("%s, %d px: the page is %d px wider than the window", scheme, width, over)
			}
		}
	}
	// The script counts on by the server's rule: this is the table of TestAges.
	for milliseconds, want := range map[int]string{
		-500: "0 s", 0: "0 s", 59_999: "59 s", 60_000: "1 min", 3599_000: "59 min", 3600_000: "1 h", 47*3600_000 + 59*60_000: "47 h", 48 * 3600_000: "2 days",
	} {
		if got := eval[string](b, fmt.Sprintf("age(%d)", milliseconds)); got != want {
			t.Errorf("%d ms are %q, want %q", milliseconds, got, want)
		}
	}
	b.hasNoErrors()
}
