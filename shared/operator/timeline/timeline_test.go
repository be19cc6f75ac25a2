package timeline

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// shape is an element of a picture.
type shape struct {
	name, text string
	attr       map[string]string
}

func (s shape) number(t *testing.T, name string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(s.attr[name], 64)
	if err != nil {
		t.Fatalf("%s of %+v: %v", name, s, err)
	}
	return n
}

// shapes reads the picture of a page, which is XML.
func shapes(t *testing.T, page string) (all []shape) {
	t.Helper()
	begin, end := strings.Index(page, "<svg"), strings.LastIndex(page, "</svg>")
	if begin < 0 || end < 0 {
		t.Fatalf("no picture:\n%s", page)
	}
	decoder := xml.NewDecoder(strings.NewReader(page[begin : end+len("</svg>")]))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			s := shape{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				s.attr[a.Name.Local] = a.Value
			}
			all = append(all, s)
		case xml.CharData:
			if n := len(all); n > 0 {
				all[n-1].text += strings.TrimSpace(string(token))
			}
		}
	}
}

func page(t *testing.T, all ...Timeline) string {
	t.Helper()
	var out strings.Builder
	if err := (Page{Title: "Timeline", Timelines: all}).Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSpans(t *testing.T) {
	text := page(
		t,
		Timeline{
			Title: "one",
			Begin: -100 * ms,
			End:   900 * ms,
			Lanes: []Lane{{Name: "a", Rows: []Row{
				{
					Name:  "VIP",
					Thick: true,
					Spans: []Span{
						{From: 100 * ms, To: 300 * ms, Tone: Holds, Label: "here"},
						{From: 800 * ms, To: 5000 * ms, Tone: Away},
						{From: 2000 * ms, To: 3000 * ms, Tone: Bad},
					},
				},
			}}},
		},
	)
	var got []string
	label := false
	for _, s := range shapes(t, text) {
		if s.name == "rect" && s.attr["height"] == "18.0" && s.attr["class"] != "track" {
			got = append(
				got,
				fmt.Sprintf("%s %.0f+%.0f", s.attr["class"], s.number(t, "x"),
					s.number(t, "width")),
			)
		}
		label = label || s.name == "text" && s.text == "here"
	}
	// The plot begins at 150 and is 1030 wide: 100 ms are 103 pixels.
	if want := fmt.Sprintf("[%s 356+206 %s 1077+103]", shapeClass(Holds), shapeClass(Away)); fmt.Sprint(
		got,
	) != want {
		t.Errorf("%v, want %s: what is outside is cut, or not drawn", got, want)
	}
	if !label {
		t.Error("the label is not written")
	}
}

// TestPoints holds that the request that failed is seen where others were served in the same
// column, and for how long none was.
func TestPoints(t *testing.T) {
	var points []Point
	for at := range 10000 {
		tone := Served
		switch {
		case at == 5003:
			tone = Reset
		case at > 6000 && at < 6500:
			tone = Refused
		}
		points = append(points, Point{At: time.Duration(at) * ms, Tone: tone})
	}
	found := map[string]float64{}
	for _, s := range shapes(t, page(t, Timeline{Begin: 0, End: 10 * time.Second, Lanes: []Lane{{Name: "client", Points: points}}})) {
		if s.name == "rect" && s.number(t, "height") > 12 {
			found[s.attr["class"]] += s.number(t, "width")
		}
	}
	if w := found[shapeClass(Reset)]; w < 2 || w > 4 {
		t.Errorf("one of 10000 requests is %v pixels wide", w)
	}
	if w := found[shapeClass(Refused)]; w < 50 || w > 54 {
		t.Errorf("half a second of ten is %v pixels wide, want 52", w)
	}
}

// TestMarks holds that labels do not cover each other, and that all of them are in the picture.
func TestMarks(t *testing.T) {
	line := Timeline{Begin: 0, End: time.Second, Lanes: []Lane{{Name: "a"}}}
	for i := range 12 {
		line.Marks = append(line.Marks,
			Mark{At: time.Duration(900+5*i) * ms, Label: fmt.Sprintf("master-%d MASTER", i)})
	}
	type place struct{ y, from, to float64 }
	var places []place
	for _, s := range shapes(t, page(t, line)) {
		if s.name != "text" || !strings.HasSuffix(s.text, "MASTER") {
			continue
		}
		p, wide := place{y: s.number(t, "y"), from: s.number(t, "x")}, letter*float64(len(s.text))
		if p.to = p.from + wide; s.attr["text-anchor"] == "end" {
			p.from, p.to = p.from-wide, p.from
		}
		if p.from < 0 || p.to > width {
			t.Errorf("%q is from %v to %v", s.text, p.from, p.to)
		}
		for _, other := range places {
			if p.y == other.y && p.from < other.to && other.from < p.to {
				t.Errorf("%q covers another label", s.text)
			}
		}
		places = append(places, p)
	}
	if len(places) != 12 {
		t.Errorf("%d labels, want 12", len(places))
	}
}

// TestLane_LongName holds that no strip covers the name of its host.
func TestLane_LongName(t *testing.T) {
	for name, covered := range map[string]bool{"bootstrap machine": false, "52:54:00:00:00:09": false, "openshift-master-0.ostest.example.com": true} {
		line := Timeline{End: time.Second, Lanes: []Lane{{Name: name, Rows: []Row{{Thick: true}}}}}
		var base, top float64
		for _, s := range shapes(t, page(t, line)) {
			if s.name == "text" && s.text == name {
				base = s.number(t, "y")
			}
			if s.attr["class"] == "track" {
				top = s.number(t, "y")
			}
		}
		if below := top > base; base == 0 || top == 0 || below != covered {
			t.Errorf("%s: the name is at %v, its strip begins at %v", name, base, top)
		}
	}
}

// TestCurve holds that numbers of several lanes can be compared, and that a host which is off has
// none.
func TestCurve(t *testing.T) {
	text := page(t, Timeline{Begin: 0, End: time.Second, Lanes: []Lane{
		{
			Name:  "a",
			Curve: []Step{{0, 200}, {400 * ms, -1}, {700 * ms, 100}},
		}, {Name: "b", Curve: []Step{{0, 100}}},
	}})
	var paths []string
	for _, s := range shapes(t, text) {
		if s.name == "path" {
			paths = append(paths, s.attr["d"])
		}
	}
	if len(paths) != 2 || strings.Count(paths[0], "M") != 2 || strings.Count(paths[1], "M") != 1 {
		t.Fatalf("curves %q, want one in two parts and one in one", paths)
	}
	var top, low, other float64
	if _, err := fmt.Sscanf(paths[0], "M150.0 %f", &top); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(paths[0][strings.LastIndex(paths[0], " ")+1:], "%f", &low); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(paths[1], "M150.0 %f", &other); err != nil {
		t.Fatal(err)
	}
	if lane := other - low; low-top != (curve-12)/2 || lane < curve {
		t.Errorf("200 is at %v, 100 at %v and in the next lane at %v", top, low, other)
	}
}

// TestSelf holds that a page loads nothing, and that its texts are text and nothing else.
func TestSelf(t *testing.T) {
	evil := `<script src="http://192.0.2.1/x">&"'`
	p := Page{
		Title: evil,
		Note:  evil,
		Head:  []string{evil},
		Rows:  []TableRow{{Cells: []string{evil}, Picture: evil}},
		Timelines: []Timeline{{
			Title: evil, Note: evil, End: time.Second, Marks: []Mark{{Label: evil}},
			Lanes: []Lane{
				{
					Name: evil,
					Rows: []Row{
						{
							Name:  evil,
							Thick: true,
							Spans: []Span{{To: time.Second, Tone: Holds, Label: evil}},
						},
					},
				},
			},
		}},
	}
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	shapes(t, text)
	for _, ban := range []string{"<script", `src="`, "url(", "@import"} {
		if strings.Contains(text, ban) {
			t.Errorf("%q is in the page", ban)
		}
	}
	if links, inside := strings.Count(text, "href"), strings.Count(text, `href="#`); links != 2 ||
		inside != links {
		t.Errorf("%d links, %d of them into the page, want two of two: the picture, and back",
			links, inside)
	}
	if n := strings.Count(text, "&lt;script"); n < 9 {
		t.Errorf("the text is there %d times, want 9 at least", n)
	}
	if err := p.Write(full{}); err == nil {
		t.Error("a page that cannot be written is no error")
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// TestPage holds that a row leads to its picture, that numbers can be compared, and that a row that
// alarms has another style.
func TestPage(t *testing.T) {
	p := Page{
		Title: "x",
		Head:  []string{"scenario", "max", "VIP", "failed"},
		Timelines: []Timeline{
			{Title: "reboot", End: time.Second},
			{Title: "power-loss", End: time.Second},
		},
	}
	p.Rows = []TableRow{
		{
			Cells:   []string{"power-loss", "350", "a → b", "12/300"},
			Picture: "power-loss",
			Alarm:   true,
		},
		{Cells: []string{"other", "-", "", "0/1"}, Picture: "none"},
	}
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<tr class="alarm"><td><a href="#picture-2">power-loss</a></td><td class="number">350</td><td>a → b</td><td class="number">12/300</td></tr>`,
		`<tr><td>other</td><td class="number">-</td><td></td><td class="number">0/1</td></tr>`,
		`<section id="picture-2"><h2>power-loss</h2>`, `<th scope="col" class="number">max</th>`, `<table id="table">`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in\n%s", want, out.String())
		}
	}
}

// TestBands holds that dual holders and the longest wait are marked, and nothing that only touches.
func TestBands(t *testing.T) {
	holds := func(from, to int) Lane {
		return Lane{
			Rows: []Row{
				{
					Thick: true,
					Spans: []Span{
						{From: time.Duration(from) * ms, To: time.Duration(to) * ms, Tone: Holds},
					},
				},
			},
		}
	}
	requests := func(tones map[int]Tone) (l Lane) {
		for at := 0; at < 1000; at += 10 {
			tone := Served
			if bad, ok := tones[at/100]; ok {
				tone = bad
			}
			l.Points = append(l.Points, Point{time.Duration(at) * ms, tone})
		}
		return l
	}
	for _, tt := range []struct {
		name  string
		lanes []Lane
		want  string
	}{
		{"in order", []Lane{holds(0, 400), holds(400, 900)}, ""},
		{"two", []Lane{holds(0, 400), holds(300, 900)}, "300ms to 400ms: dual holders 100ms"},
		{"three", []Lane{holds(0, 400), holds(300, 900), holds(350, 500)}, "300ms to 500ms: dual " +
			"holders 200ms"},
		{"all is served", []Lane{requests(nil)}, ""},
		{"two waits", []Lane{requests(map[int]Tone{2: Late, 5: Refused, 6: Late})}, "490ms to " +
			"700ms: longest wait 210ms"},
		{"served no more", []Lane{requests(map[int]Tone{2: Late, 8: Refused, 9: Refused})}, "790ms to " +
			"1s: longest wait 210ms"},
	} {
		var got []string
		for _, b := range (Timeline{End: time.Second, Lanes: tt.lanes}).bands() {
			got = append(got, fmt.Sprintf("%v to %v: %s", b.from, b.to, b.label))
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	text := page(t, Timeline{End: time.Second, Lanes: []Lane{holds(0, 400), holds(300, 900)}})
	if !strings.Contains(text, `class="band"`) || !strings.Contains(text, "dual holders 100ms") {
		t.Error("dual holders are not drawn")
	}
}

// TestAnything draws lanes by chance, with times outside and contrary, and wants a picture of
// numbers each time.
func TestAnything(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 1))
	at := func() time.Duration { return time.Duration(d.Int64N(int64(4*time.Second))) - time.Second }
	for range 300 {
		line := Timeline{Begin: at(), End: at(), Title: "x"}
		for range d.IntN(4) {
			lane := Lane{Name: "a"}
			for range d.IntN(5) {
				lane.Rows = append(
					lane.Rows,
					Row{
						Spans: []Span{
							{
								From:  at(),
								To:    at(),
								Tone:  tones[d.IntN(len(tones))].tone,
								Label: "y",
							},
						},
					},
				)
				lane.Curve = append(lane.Curve, Step{at(), d.IntN(300) - 20})
				lane.Points = append(lane.Points, Point{at(), tones[d.IntN(len(tones))].tone})
			}
			line.Lanes = append(line.Lanes, lane)
			line.Marks = append(line.Marks, Mark{At: at(), Label: "z"})
		}
		text := page(t, line)
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") ||
			strings.Contains(text, `width="-`) {
			t.Fatalf("%+v\n%s", line, text)
		}
		if line.End > line.Begin {
			shapes(t, text)
		}
	}
}

// TestTick holds that the axis of a long picture counts in minutes and hours, and that none is crowded.
func TestTick(t *testing.T) {
	for all, want := range map[time.Duration]string{
		time.Minute: "5 s", 10 * time.Minute: "50 s", 11 * time.Minute: "1 m", 25 * time.Minute: "5 m", 3 * time.Hour: "20 m", 30 * time.Hour: "6 h", 20 * 24 * time.Hour: "48 h",
	} {
		step := tick(all)
		if got := clock(step, step); got != want || all/step > 12 {
			t.Errorf("%v: %s, %d ticks, want %s", all, got, all/step, want)
		}
	}
}

// TestPage_More holds that links of a file with several pages lead to the right ones.
func TestPage_More(t *testing.T) {
	one := Page{Title: "one", Head: []string{"at"}, Rows: []TableRow{{Cells: []string{"1"}, Picture: "p"}}, Timelines: []Timeline{{Title: "p", End: time.Second}}}
	two := one
	two.Title = "two"
	one.More = []Page{two}
	var out strings.Builder
	if err := one.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<h1>one</h1>`, `<h1>two</h1>`, `id="table"`, `id="page-2-table"`, `id="picture-1"`, `id="page-2-picture-1"`,
		`<a href="#picture-1">`, `<a href="#page-2-picture-1">`, `<a href="#table">`, `<a href="#page-2-table">`} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("%s is there %d times:\n%s", want, strings.Count(out.String(), want), out.String())
		}
	}
}

// TestAxis_Ends holds that a picture to the end of all times is drawn.
func TestAxis_Ends(t *testing.T) {
	for _, end := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2} {
		if text := page(t, Timeline{Begin: -1, End: end - 1, Lanes: []Lane{{Name: "a"}}}); !strings.Contains(text, "</svg>") {
			t.Errorf("%v: %s", end, text)
		}
	}
}
