package browser

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

var picture = flag.Bool("picture", false, "write docs/replay.gif anew")

// The replay in docs plays to its end without a kubelet. With -picture it is filmed.
func TestIntegrationTheReplayInDocs(t *testing.T) {
	h := &host{Host: hosttest.New(t)}
	docs, err := filepath.Abs("../../../../docs")
	h.Must(err)
	b := h.open("file://" + filepath.Join(docs, "replay.html"))
	b.shows("change-title", "", "web.yaml was edited")
	for name, width := range map[string]int64{"light": 1360, "dark": 1360, "phone": 360} {
		b.look(width, map[bool]string{true: "dark", false: "light"}[name == "dark"], "reduce")
		eval[any](b, `goTo(stages.findIndex(stage => stage.dataset.kind === 'plan'))`)
		b.shows("compare", "", "env GREETING changed", "stop attempt 1")
		b.fits("saved-" + name)
	}
	b.look(1000, "light", "no-preference")
	eval[any](b, `byId('pace').value = 1, byId('play').click()`)
	h.Await("it plays to its end", func() error {
		if s := b.stage(); s.At < s.Of-1 {
			return fmt.Errorf("it is at %+v", s)
		}
		return nil
	})
	b.shows("compare", "", "=", "2 running B", "nothing to do")
	if eval[int](b, `performance.getEntriesByType('resource').length`) > 0 {
		t.Error("it asks for more files")
	}
	b.hasNoErrors()
	// What a class has on the page works here, too; and without scripts the file is the list of its stages.
	b.do(chromedp.KeyEvent("c"))
	b.click(at("predict-first"))
	b.click(at("to-plan"))
	b.shows("predict", "predict asks", "server", "writer", "What happens to it?")
	b.fits("saved-class")
	b.click(at("predict-first"))
	b.do(chromedp.KeyEvent("c"))
	if *picture {
		film := b.film()
		h.Must(os.WriteFile(filepath.Join(docs, "replay.gif"), film, 0o644))
		if len(film) > 700_000 {
			t.Errorf("the picture has %d bytes", len(film))
		}
	}
	// The time of a frame is any number. An earlier loop never ended for two frames of a thousand.
	eval[any](b, `(() => {
		draw = requestAnimationFrame = () => {}
		byId('pace').value = 'read'
		for (let frame = 0; frame < 20000; frame++) {
			seek(frame % stages.length)
			playing = true
			tick(last + 15 + 50 * Math.random())
		}
	})()`)
	b.look(1360, "light", "no-preference")
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), command(page.Reload, page.ReloadParams{}))
	h.Await("the stages are listed", func() error {
		return unittest.HasWords(eval[string](b, `document.body?.innerText ?? ""`), "From a manifest to a container", "0 ms", "SET, UPDATE", "nothing to do")
	})
	b.fits("saved-no-script")
}

// film returns a moving picture of a replay: of each stage the way of the token, and then time to read it. What the loop sees while the
// worker is busy is left out.
func (b *tab) film() []byte {
	b.h.T.Helper()
	b.do(command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 980, Height: 570, DeviceScaleFactor: 1}))
	eval[any](b, `pause(), document.activeElement.blur(), document.head.append(Object.assign(document.createElement('style'), {textContent:
		'* { animation: none !important; transition: none !important } .top, .all-stages, .tools, #flow h2, .controls, .real, .real + .note { display: none !important } section { margin-top: .8rem } .playing .caption { min-height: 5.1rem; margin: 0 }'}))`)
	type stage struct {
		At, Reading int // milliseconds
		Kind        string
		Moves       bool
	}
	var stages []stage
	vain := false
	for _, s := range slices.Backward(eval[[]stage](b, `stages.map((stage, i) => ({
		At: i, Reading: 600 + 16 * stage.querySelector('.say').textContent.length, Kind: stage.dataset.kind, Moves: !!ways[stage.dataset.kind]
	}))`)) {
		vain = vain || s.Kind == "skip"
		if !vain && s.Kind != "event" {
			stages = append(stages, s)
		}
		vain = vain && s.Kind != "list"
	}
	var shots []image.Image
	var delays []int // in hundredths of a second
	for _, stage := range slices.Backward(stages) {
		for _, part := range map[bool][]float64{true: {.3, .45, .6, 1}, false: {1}}[stage.Moves] {
			eval[any](b, fmt.Sprintf(`seek(%f)`, float64(stage.At)+part*.449))
			shot, err := png.Decode(bytes.NewReader(get(b, chromedp.CaptureScreenshot())))
			b.h.Must(err)
			shots, delays = append(shots, shot), append(delays, map[bool]int{true: stage.Reading / 10, false: 8}[part == 1])
		}
	}
	delays[len(delays)-1] = 400
	return encode(b.h.T, shots, delays)
}

// encode makes a GIF. Each picture has only what differs from the one before.
func encode(t testing.TB, shots []image.Image, delays []int) []byte {
	t.Helper()
	times := map[color.RGBA]int{}
	at := func(shot image.Image, x, y int) color.RGBA {
		return color.RGBAModel.Convert(shot.At(x, y)).(color.RGBA)
	}
	size := shots[0].Bounds()
	for _, shot := range shots {
		for y := range size.Dy() {
			for x := range size.Dx() {
				times[at(shot, x, y)]++
			}
		}
	}
	colours := slices.SortedFunc(maps.Keys(times), func(a, b color.RGBA) int { return times[b] - times[a] })
	palette := color.Palette{color.RGBA{}} // 0: as before
	for _, c := range colours[:min(255, len(colours))] {
		palette = append(palette, c)
	}
	index := map[color.RGBA]uint8{}
	for _, c := range colours {
		index[c] = uint8(1 + palette[1:].Index(c))
	}
	film, before := &gif.GIF{}, image.NewPaletted(size, palette)
	for i, shot := range shots {
		changed, next := image.Rectangle{}, image.NewPaletted(size, palette)
		for y := range size.Dy() {
			for x := range size.Dx() {
				if c := index[at(shot, x, y)]; c != before.ColorIndexAt(x, y) {
					before.SetColorIndex(x, y, c)
					next.SetColorIndex(x, y, c)
					changed = changed.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		if changed.Empty() {
			film.Delay[len(film.Delay)-1] += delays[i]
			continue
		}
		film.Image, film.Delay = append(film.Image, next.SubImage(changed).(*image.Paletted)), append(film.Delay, delays[i])
		film.Disposal = append(film.Disposal, gif.DisposalNone)
	}
	var out bytes.Buffer
	unittest.Must(t, gif.EncodeAll(&out, film))
	return out.Bytes()
}
