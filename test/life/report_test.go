package life

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/test/chain"
)

// kept is the environment variable that names a directory where the journals and the page of
// TestLongReport are kept for a reader.
const kept = "ONPREM_INFRA_KEEP"

// row is a line of a report's table.
type row struct {
	at                    time.Time
	host, vip, state, why string
}

func (r row) String() string {
	return fmt.Sprintf("%s %s %s %s: %s", r.at.Format("15:04:05.000"), r.host, r.vip, r.state, r.why)
}

// cell is a cell of a report's table, whose text may be a link to a picture.
var cell = regexp.MustCompile(`<td[^>]*>(?:<a [^>]*>)?(.*?)(?:</a>)?</td>`)

// table reads a report's table, of one VIP, in the order of its lines.
func table(page, vip string) (rows []row, err error) {
	for line := range strings.Lines(page) {
		cells := cell.FindAllStringSubmatch(line, -1)
		if len(cells) != 6 || cells[2][1] != vip {
			continue
		}
		at, err := time.Parse("2006-01-02 15:04:05.000", cells[0][1])
		if err != nil {
			return nil, err
		}
		why := html.UnescapeString(cells[5][1])
		rows = append(rows, row{at, cells[1][1], cells[2][1], cells[3][1], why})
	}
	return rows, nil
}

// report draws the journals of all hosts, and returns the page.
func (s *stage) report(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if keep := os.Getenv(kept); keep != "" {
		dir = keep
	}
	page := filepath.Join(dir, "page.html")
	args := []string{"report", "--quiet", "--out", page}
	texts := map[string][]byte{}
	if s.options.Bootstrap {
		text, err := s.VM.Run(t.Context(), "cat", journal.Path)
		s.must(err)
		texts["bootstrap"] = []byte(text)
	}
	for _, n := range s.Nodes {
		text, err := os.ReadFile(filepath.Join(n.Root, journal.Path))
		s.must(err)
		texts[n.Name] = text
	}
	s.keepLogs()
	for host, text := range texts {
		file := filepath.Join(dir, host+".jsonl")
		s.must(os.WriteFile(file, text, 0o644))
		args = append(args, file)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(s.Programs(), "onprem-infra"), args...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Fatalf("report: %v: %s", err, out)
	}
	text, err := os.ReadFile(page)
	s.must(err)
	return string(text)
}

// passage is one move of the VIP, as the observer saw it.
type passage struct {
	from, to   string
	why        string // pattern of the reason that the new holder gives
	left       string // a part of the reason that the former one gives, if it could give one
	lost, came time.Time
}

// passes has the VIP leave its holder, and says when that and its coming elsewhere were seen.
func (s *stage) passes(t *testing.T, from string, leave func() error) (p passage) {
	t.Helper()
	begin := time.Now()
	s.must(leave())
	came, to, err := Left(t.Context(), s.Observer, from)
	s.must(err)
	p = passage{from: from, to: to}
	for _, span := range s.Observer.Report().Spans {
		if span.To.Before(begin) {
			continue
		}
		if slices.Contains(span.Holders, to) && p.came.IsZero() {
			p.came = span.From
		}
		if slices.Contains(span.Holders, from) {
			p.lost = span.To
		}
	}
	t.Logf("from %s at %s to %s at %s, alone at %s", from, p.lost.UTC().Format("15:04:05.000"), to, p.came.UTC().Format("15:04:05.000"), came.UTC().Format("15:04:05.000"))
	return p
}

// exact is how far the journal may be from what the observer sees, which samples every 10 ms:
// keepalived reports a change after it has made it, and a monitor that one processor has to wait
// for records when it read it.
const exact = 2*sample + 30*time.Millisecond

// ended is how long a host that has lost the VIP ends what was open to it, before it writes down
// anything.
const ended = 150 * time.Millisecond

// TestLongReport moves the VIP three times, by a hand-over, a node that leaves in order and one
// that loses its power, and holds the report that is drawn of the hosts' journals against what was
// seen from outside.
func TestLongReport(t *testing.T) {
	needLong(t)
	s := joined(t)
	handOver := s.passes(t, "bootstrap", s.EndAPI)
	handOver.why, handOver.left = chain.BootstrapIP.String()+" released it|no better router was observed; 192.*? took it at the same time", "asked to release it"
	s.must(s.Settled(t.Context()))
	s.calm(t, time.Minute)

	leaver := s.holder()
	leave := s.passes(t, leaver.Name, func() error { return leaver.Leave(t.Context()) })
	leave.why, leave.left = leaver.IP.String()+" released it", "asked to release it"
	s.must(leaver.Return(t.Context()))
	s.must(Until(t.Context(), time.Minute, leaver.Candidate))

	dead := s.holder()
	loss := s.passes(t, dead.Name, dead.CutPower)
	loss.why = "no advert of " + dead.IP.String() + " was received"
	s.must(dead.Boot(t.Context()))
	s.must(Until(t.Context(), time.Minute, dead.Candidate))

	page := s.report(t)
	rows, err := table(page, chain.APIVIP.String())
	s.must(err)
	for _, r := range rows {
		t.Log(r)
	}
	for _, p := range []passage{handOver, leave, loss} {
		holds(t, rows, p)
	}
	// A host whose power is cut loses its network first, and may still write that down.
	if !slices.ContainsFunc(rows, func(r row) bool {
		return r.host == dead.Name && r.at.After(loss.lost) &&
			(r.state == "FAULT" || strings.HasPrefix(r.why, "it changed while it was not observed"))
	}) {
		t.Errorf("no line says how %s lost the VIP with its power", dead.Name)
	}
	for _, word := range []string{"By these journals there was no holder for", handOver.to + " MASTER", leave.to + " MASTER", loss.to + " MASTER"} {
		if !strings.Contains(page, word) {
			t.Errorf("the page does not say %q", word)
		}
	}
}

// holds finds a passage in a report's table: which host took over, when and why; and the same of
// the one that left, if it could write it down.
func holds(t *testing.T, rows []row, p passage) {
	t.Helper()
	came := slices.IndexFunc(rows, func(r row) bool {
		return r.host == p.to && r.state == "MASTER" && r.at.Sub(p.came).Abs() < time.Second
	})
	if came < 0 {
		t.Errorf("no line says that %s has it since %s", p.to, p.came.UTC().Format("15:04:05.000"))
		return
	}
	t.Logf("%v after it was seen: %s", rows[came].at.Sub(p.came).Round(time.Millisecond), rows[came])
	if off := rows[came].at.Sub(p.came).Abs(); off > exact || !regexp.MustCompile(p.why).MatchString(rows[came].why) {
		t.Errorf("%v off, want %q: %s", off, p.why, rows[came])
	}
	if p.left == "" {
		return
	}
	left := slices.IndexFunc(rows, func(r row) bool {
		return r.host == p.from && r.state != "MASTER" && r.at.Sub(p.lost).Abs() < time.Second
	})
	if left < 0 {
		t.Errorf("no line says that %s has it no more since %s", p.from, p.lost.UTC().Format("15:04:05.000"))
		return
	}
	t.Logf("%v after it was seen: %s", rows[left].at.Sub(p.lost).Round(time.Millisecond), rows[left])
	if off := rows[left].at.Sub(p.lost).Abs(); off > exact+ended || !strings.Contains(rows[left].why, p.left) {
		t.Errorf("%v off, want %q: %s", off, p.left, rows[left])
	}
}
