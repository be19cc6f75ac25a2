package query

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestLoad has a server that loses one question in ten, fails one and says something else to
// others: all of these count, and nothing else does.
func TestLoad(t *testing.T) {
	host, err := lab.New(t).Add("a", netip.MustParsePrefix("192.0.2.1/24"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := host.ListenPacket("192.0.2.1:53")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		name := q.Question[0].Name
		answer := func(text string) {
			reply.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{text}}}
		}
		switch name[:3] {
		case "n3.":
			return
		case "n5.":
			answer("somebody.else.")
		case "n6.":
		case "n7.":
			reply.Rcode = dns.RcodeServerFailure
		case "n8.":
			reply.Rcode = dns.RcodeNameError
		default:
			answer(name)
		}
		_ = w.WriteMsg(reply) // the asker notices
	})}
	go server.ActivateAndServe()
	defer server.Shutdown()
	begun := time.Now()
	load, err := Start(host, "192.0.2.1:53", 500, func(i int) Question {
		name := fmt.Sprintf("n%d.example.", i%10)
		return Question{Name: name, Type: dns.TypeTXT, Want: []string{"never said", name}}
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(load.Answers()) < 500 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
	}
	elapsed := time.Since(begun)
	outcome, err := load.Stop()
	answers := outcome.Answers
	if want := int(0.95 * 500 * elapsed.Seconds()); err != nil || len(answers) < max(500, want) || len(answers) != outcome.Due {
		t.Fatalf("%d questions in %s, of %d due, want %d at least (%v)", len(answers), elapsed, outcome.Due, want, err)
	}
	for i, a := range answers {
		if want := strings.Contains("35678", fmt.Sprint(i%10)); a.Name != fmt.Sprintf("n%d.example.", i%10) || a.Lost() != want {
			t.Errorf("question %d: %+v, lost: %t, want %t", i, a, a.Lost(), want)
		}
	}
	if last, first := answers[len(answers)-1].Asked, answers[0].Asked; last.Sub(first) < 900*time.Millisecond*time.Duration(len(answers))/500 {
		t.Errorf("%d questions in %s", len(answers), last.Sub(first))
	}
}

// TestOutcome holds what is a loss and what is only a busy machine.
func TestOutcome(t *testing.T) {
	begun := time.Now()
	good := Answer{Question: Question{Name: "a.", Want: []string{"1", "2"}}, Asked: begun, Took: time.Millisecond, Text: "2"}
	with := func(change func(a *Answer)) Answer {
		a := good
		change(&a)
		return a
	}
	// at are answers to questions of which one was asked in each of these moments
	at := func(moments ...int) (all []Answer) {
		for _, n := range moments {
			all = append(all, with(func(a *Answer) { a.Asked = begun.Add(time.Duration(n)*moment + moment/2) }))
		}
		return all
	}
	for _, tt := range []struct {
		name    string
		answers []Answer
		due     int
		moments int // 1 unless it says so
		starved float64
		want    string // empty for nothing wrong
	}{
		{name: "all answered", answers: []Answer{good, good, good, good}},
		{name: "one is not", answers: []Answer{good, with(func(a *Answer) { a.Took, a.Rcode, a.Text = Patience, -1, "" })}, want: "question 1, a.: lost"},
		{name: "one too late", answers: []Answer{with(func(a *Answer) { a.Took = Patience })}, want: "question 0, a.: lost"},
		{name: "no such name", answers: []Answer{with(func(a *Answer) { a.Rcode, a.Text = dns.RcodeNameError, "" })}, want: "lost"},
		{name: "no such record", answers: []Answer{with(func(a *Answer) { a.Text = "" })}, want: "lost"},
		{name: "the server fails", answers: []Answer{with(func(a *Answer) { a.Rcode = dns.RcodeServerFailure })}, want: "lost"},
		{name: "somebody else's", answers: []Answer{with(func(a *Answer) { a.Text = "3" })}, want: "lost"},
		{name: "some never asked", answers: []Answer{good, good, good}, due: 4, want: "3 questions asked of 4"},
		{name: "a moment without a question", answers: at(0, 1, 2, 3), moments: 5},
		{name: "all asked late, and in each moment", answers: at(1, 2, 3, 4, 5, 6), moments: 6},
		{name: "moments without a question", answers: at(0, 0, 1, 1, 3, 3), moments: 4, want: "a question in 75% of the moments"},
		{name: "one flood at the end", answers: at(9, 9, 9, 9, 9, 9, 9, 9, 9, 9), moments: 10, want: "a question in 10% of the moments"},
		{name: "moments without a question on a busy machine", answers: at(0, 1, 3), moments: 4, starved: 0.25},
		{name: "more of them than the machine was busy", answers: at(0), moments: 4, starved: 0.25, want: "less the 25% that the machine was too busy for"},
		{name: "lost on a busy machine", answers: []Answer{good, with(func(a *Answer) { a.Text = "" })}, moments: 10, starved: 1, want: "question 1, a.: lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ended := begun.Add(time.Duration(max(1, tt.moments)) * moment)
			err := Outcome{Answers: tt.answers, Begun: begun, Ended: ended, Due: max(tt.due, len(tt.answers)), Starved: tt.starved}.Err()
			if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) && tt.want != "" {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
