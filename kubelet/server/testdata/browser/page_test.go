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
	b.shows("event-list", "", "SET", "it is wanted from now on", "started")

	t.Log("an image that is not there: what runs goes on, and the page says what is not as wanted")
	h.write("web.yaml", web("kubelet14/nowhere:1", port))
	b.shows(server, "container busy", "running", "No such image")
	b.shows("flow-loop", "", "UPDATE")

	t.Log("a command that fails")
	h.write("web.yaml", strings.Replace(web(hello, port), `"serve", "-port", "8080"`, `"exit", "3"`, 1))
	b.shows(webPod, "pod bad")
	b.shows(server, "container bad", "waiting", "exit code 3", "restarts")
	b.keep("turned-bad", chromedp.FullScreenshot(100))

	t.Log("mended by an edit")
	h.write("web.yaml", web(hello, port))
	b.shows(webPod, "pod good", "running")

	t.Log("a server that is not well any more is restarted")
	attempt := restarts(b)
	h.ask(port, "/health?ok=false")
	b.shows("event-list", "", "unhealthy")
	b.shows(webPod, "pod good", "running", fmt.Sprintf("%d restarts", attempt+1), "Unhealthy")

	if !eval[bool](b, `window.sameAllTheTime === true`) {
		t.Error("the page was loaded anew")
	}
	if wrong := b.complaints(); len(wrong) > 0 {
		t.Errorf("the browser complains: %q", wrong)
	}
}

// restarts is how many restarts of the server the page shows.
func restarts(b *tab) int {
	b.h.t.Helper()
	var n int
	text := eval[string](b, fmt.Sprintf(`document.getElementById(%q).querySelector(".restarts").innerText`, server))
	if _, err := fmt.Sscanf(text, "%d restart", &n); err != nil {
		b.h.t.Fatalf("the page shows %q: %v", text, err)
	}
	return n
}

func TestIntegrationPageShowsALog(t *testing.T) {
	h := newHost(t)
	port := freePort(t)
	h.write("web.yaml", web(hello, port))
	b := h.open(h.url)
	b.shows(webPod, "pod good")

	t.Log("who has no token is told how to get in")
	b.do(chromedp.Click(at(link)))
	b.shows("log-text", "", "needs the token in "+h.path("root/token"), "the page's address with /?token=")
	b.shows("log-note", "", "may not read it yet")
	b.complaints() // a 401 is one

	t.Log("who has it sees the end of the log, by the keyboard too")
	b.do(chromedp.Navigate(h.link()))
	if at := eval[string](b, `location.href`); at != h.url {
		t.Errorf("the token stays in the address: %s", at)
	}
	b.shows("status", "", "Live")
	b.do(chromedp.Focus(at(link)), chromedp.KeyEvent(kb.Enter))
	b.shows("log-text", "", "serving on")
	b.shows("log-title", "", "Log of container server of pod web")
	b.keep("log", chromedp.CaptureScreenshot())

	t.Log("what is open and where the keyboard is stays when the page changes")
	b.do(chromedp.Focus(at(link)))
	h.write("other.yaml", "version: v1beta1\nid: another\ncontainers: [{name: main, image: "+hello+", command: [/hello, sleep]}]\n")
	b.shows("pod-another.default.file", "pod good")
	h.write("typo.yaml", "version: v1beta1\nid: typo\ncontainers: [{name: main, imgae: none}]\n")
	b.shows(webPod, "pod good", "It may be older than its manifest")
	h.write("typo.yaml", "version: v1beta1\nid: typo\ncontainers: []\n")
	b.gone("stale-web.default.file")
	if at := eval[string](b, `document.activeElement.id`); at != link {
		t.Errorf("the keyboard is at %q, want %q", at, link)
	}
	b.shows("log-text", "", "serving on")

	t.Log("Escape closes it, and leads back to where it was opened")
	b.do(chromedp.Focus(at("log-close")), chromedp.KeyEvent(kb.Escape))
	if at := eval[string](b, `document.getElementById("log").hidden ? document.activeElement.id : "the log is open"`); at != link {
		t.Errorf("the keyboard is at %q, want %q", at, link)
	}
	if wrong := b.complaints(); len(wrong) > 0 {
		t.Errorf("the browser complains: %q", wrong)
	}
}

func TestIntegrationPageSaysWhenItIsCutOff(t *testing.T) {
	h := newHost(t)
	h.write("web.yaml", web(hello, freePort(t)))
	b := h.open(h.url)
	b.shows("status", "", "Live")
	b.shows(webPod, "pod good")
	h.stop()
	b.shows("status", "", "Cut off; trying again")
	h.start(portOf(t, h.url))
	b.shows("status", "", "Live")
	b.shows(webPod, "pod good")
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestIntegrationPageWithoutScript(t *testing.T) {
	h := newHost(t)
	h.write("web.yaml", web(hello, freePort(t)))
	b := h.open("about:blank")
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	h.eventually("the page shows the pod", func() error {
		b.do(chromedp.Navigate(h.link()))
		body := get(b, chromedp.Text(chromedp.CSS("body")))
		for _, want := range []string{"reload to see it anew", "running for", "SyncPods", "it is wanted from now on"} {
			if !strings.Contains(body, want) {
				return fmt.Errorf("%q is missing in %s", want, body)
			}
		}
		return nil
	})
	h.eventually("the link leads to what the container has printed by now", func() error {
		// A browser shows a plain text as a pre alone; one that is still empty is not visible.
		b.do(chromedp.Navigate(h.url), chromedp.Click(at(link)), chromedp.WaitReady(chromedp.CSS("body > pre:only-child")))
		if log := get(b, chromedp.TextContent(chromedp.CSS("body"))); !strings.Contains(log, "serving on") {
			return fmt.Errorf("it is %q", log)
		}
		return nil
	})
}
