// Package pages has a real browser judge the pages that the project writes.
package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// long asks for tests that take long.
const long = "ONPREM_INFRA_LONG"

// probe is run in the page: it measures what a reader would notice and writes it into the document.
const probe = `<script>
const rgb = text => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
const light = c => { const [r, g, b] = rgb(c).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05) };
const style = e => getComputedStyle(e), all = s => [...document.querySelectorAll(s)];
const ground = style(document.body).backgroundColor;
const ratios = (s, property, against) => Math.min(...all(s).map(e => contrast(style(e)[property], against)));
const columns = {};
for (const e of all('td.number')) (columns[e.cellIndex] ??= []).push(e.getBoundingClientRect().right);
const report = {
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  links: all('a').length,
  lost: all('a').filter(a => !document.getElementById(a.hash.slice(1))).length,
  unfocused: all('a, .wide').filter(e => { e.focus(); return document.activeElement !== e }).length,
  text: Math.min(ratios('h1, h2, p, th, td, a', 'color', ground), ratios('svg text:not(.inside)', 'fill', ground)),
  inside: Math.min(...all('svg text.inside').map(e => contrast(style(e).fill, style(e.previousElementSibling).fill))),
  shapes: ratios('svg rect[class^=tone]', 'fill', ground),
  numbers: Object.keys(columns).length,
  ragged: Object.values(columns).filter(edges => Math.max(...edges) - Math.min(...edges) > 1).length,
  ground: light(ground),
  covered: all('svg text[font-size="13"]').filter(e => { const a = e.getBoundingClientRect(); return [...e.parentNode.querySelectorAll('rect')].some(r => { const b = r.getBoundingClientRect(); return a.right > b.left && b.right > a.left && a.bottom > b.top && b.bottom > a.top }) }).length,
  cut: all('.wide').filter(e => style(e).overflowX !== 'visible' && e.scrollWidth > e.clientWidth).length,
  back: all('.back').filter(e => e.getClientRects().length).length,
  small: all('svg text').filter(e => e.textContent && e.getBoundingClientRect().height < 9).length,
};
const out = document.createElement('pre');
out.id = 'report';
out.textContent = JSON.stringify(report);
document.body.append(out);
</script></body>`

// report is what the probe writes.
type report struct {
	Overflow  float64 // pixels by which the page is wider than the window
	Links     int
	Lost      int // links that lead nowhere
	Unfocused int // links and scrolling boxes that no keyboard reaches
	Text      float64
	Inside    float64
	Shapes    float64 // the least contrast of each, 1 to 21
	Numbers   int     // columns of numbers
	Ragged    int     // those of them that are not aligned
	Ground    float64 // luminance of the page, 0 to 1
	Covered   int     // names of lanes that a shape touches
	Cut       int     // boxes that show a part of what is in them, to be scrolled
	Back      int     // links back that are shown
	Small     int     // texts of pictures that are less than 9 pixels high
}

// TestLongPages has Chromium show pages at the widths of a phone, a tablet and a laptop, in light and
// dark colours: one of simulate, and one of report with an installation of hosts. The pictures of them
// are artifacts of the test.
func TestLongPages(t *testing.T) {
	if os.Getenv(long) != "1" {
		t.Skipf("needs a browser: make e2e, or %s=1, asks for it", long)
	}
	browser := need.Command(t, "chromium")
	for _, page := range write(t) {
		for _, width := range []int{360, 768, 1366} {
			for _, dark := range []bool{false, true} {
				name := fmt.Sprintf("%s-%d", page.name, width)
				if dark {
					name += "-dark"
				}
				t.Run(name, func(t *testing.T) {
					b := window{browser: browser, width: width, dark: dark}
					r := b.measure(t, page.file)
					if r.Overflow > 0 || r.Links < 20 || r.Lost > 0 || r.Unfocused > 0 || r.Numbers < page.numbers || r.Ragged > 0 || r.Covered > 0 || r.Small > 0 {
						t.Errorf("%+v", r)
					}
					if r.Text < 4.5 || r.Inside < 4.5 || r.Shapes < 3 {
						t.Errorf("contrast of text %.1f, inside of shapes %.1f, of shapes %.1f", r.Text, r.Inside, r.Shapes)
					}
					if dark != (r.Ground < 0.2) {
						t.Errorf("the page's luminance is %.2f", r.Ground)
					}
					b.run(t, "--screenshot="+filepath.Join(t.ArtifactDir(), name+".png"), page.file)
				})
			}
		}
	}
}

// TestLongPages_Print has Chromium show pages as a printer with a sheet of A4 gets them, also where screens are
// dark: bright, as wide as the sheet, with all of each picture, and without links back to the top of a screen.
func TestLongPages_Print(t *testing.T) {
	if os.Getenv(long) != "1" {
		t.Skipf("needs a browser: make e2e, or %s=1, asks for it", long)
	}
	browser := need.Command(t, "chromium")
	for _, page := range write(t) {
		text, err := os.ReadFile(page.file)
		if err != nil {
			t.Fatal(err)
		}
		onPaper := strings.NewReplacer("@media print{", "@media all{", "@media screen", "@media not all").Replace(string(text))
		if err := os.WriteFile(page.file, []byte(onPaper), 0o644); err != nil {
			t.Fatal(err)
		}
		r := window{browser: browser, width: sheet, dark: true}.measure(t, page.file)
		if r.Ground < 0.9 || r.Text < 4.5 || r.Inside < 4.5 || r.Shapes < 3 {
			t.Errorf("%s is not bright, or pale: %+v", page.name, r)
		}
		if r.Overflow > 0 || r.Cut > 0 || r.Back > 0 {
			t.Errorf("%s does not fit a sheet: %+v", page.name, r)
		}
	}
}

// sheet is the width of A4 within margins of 10 mm, in pixels of which an inch has 96.
const sheet = 718

// page is a file, and how many columns of numbers it has at least.
type page struct {
	name, file string
	numbers    int
}

// write makes pages by the program itself.
func write(t *testing.T) []page {
	t.Helper()
	dir := t.TempDir()
	program, cluster := filepath.Join(dir, "onprem-infra"), filepath.Join(dir, "cluster.yaml")
	simulated, installed := filepath.Join(dir, "simulated.html"), filepath.Join(dir, "installed.html")
	command := func(name string, args ...string) []byte {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), name, args...).Output()
		if err != nil {
			t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
		}
		return out
	}
	command("go", "build", "-tags", "remote", "-o", program, "../../cmd/onprem-infra")
	if err := os.WriteFile(cluster, command(program, "example", "cluster"), 0o644); err != nil {
		t.Fatal(err)
	}
	command(program, "simulate", "-c", cluster, "--phases", "10", "--schedules", "10", "--html", simulated)
	command(program, "report", "--out", installed, "testdata/installation.jsonl")
	return []page{{"simulate", simulated, 5}, {"report", installed, 0}}
}

// window is a browser's window.
type window struct {
	browser string
	width   int
	dark    bool
}

// run has the browser do something with a file.
func (w window) run(t *testing.T, action, file string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir=" + t.TempDir(),
		fmt.Sprintf("--window-size=%d,1400", w.width), action}
	if w.dark {
		args = append(args, "--blink-settings=preferredColorScheme=0")
	}
	out, err := exec.CommandContext(ctx, w.browser, append(args, "file://"+file)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	return string(out)
}

var found = regexp.MustCompile(`<pre id="report">(.*)</pre>`)

// measure shows a copy of the page that has the probe in it.
func (w window) measure(t *testing.T, page string) (r report) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	probed := filepath.Join(t.TempDir(), "probed.html")
	if err := os.WriteFile(probed, []byte(strings.Replace(string(text), "</body>", probe, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	match := found.FindStringSubmatch(w.run(t, "--dump-dom", probed))
	if match == nil {
		t.Fatal("the browser has not run the probe")
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(match[1])), &r); err != nil {
		t.Fatal(err)
	}
	return r
}
