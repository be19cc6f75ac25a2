package candidates

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// board is the cluster as all writers of a test see it.
type board struct {
	mu      sync.Mutex
	seen    Observation
	wakes   []chan struct{}
	writes  []string // who wrote a list, and when
	formers []string // and who the former release's object
	start   time.Time
	refuse  error
}

// view is one node's view of the board.
type view struct {
	*board
	name string
}

func (v view) Observe() Observation {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen.Last = time.Now()
	return v.seen
}

func (v view) Publish(_ context.Context, list string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.writes = append(v.writes, fmt.Sprintf("%s %v", v.name, time.Since(v.start)))
	if v.refuse == nil {
		v.publish(v.name, list)
	}
	return v.refuse
}

// publish puts a list on a Node; the caller has the lock.
func (b *board) publish(node, list string) {
	b.seen.Nodes = slices.Clone(b.seen.Nodes)
	for i, n := range b.seen.Nodes {
		if n.Name == node {
			b.seen.Nodes[i].List = list
		}
	}
	b.wakeAll()
}

func (v view) WriteFormer(_ context.Context, before, data map[string]string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.formers = append(v.formers, fmt.Sprintf("%s %v", v.name, time.Since(v.start)))
	if v.refuse == nil && maps.Equal(before, v.seen.Former.Data) {
		v.seen.Former.Data = data
	}
	return v.refuse
}

func (b *board) wakeAll() {
	for _, wake := range b.wakes {
		loop.Wake(wake)
	}
}

func (b *board) change(f func(*Observation)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.seen)
	b.wakeAll()
}

func (b *board) names(t *testing.T) []string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	newest, ok, err := Newest(Lists(b.seen.Nodes), Cluster(dual()), time.Now())
	if !ok || err != nil {
		t.Errorf("the list: %t, %v", ok, err)
	}
	return names(newest.Candidates)
}

// story runs a writer on each of the named nodes in virtual time.
func story(t *testing.T, seen Observation, running []string, wakeAll func(t *testing.T, b *board, log *bytes.Buffer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &board{seen: seen, start: time.Now()}
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		var done sync.WaitGroup
		for range running {
			b.wakes = append(b.wakes, loop.NewWake())
		}
		for i, name := range running {
			done.Go(func() {
				if err := Run(ctx, NewWriter(dual(), name), view{b, name}, b.wakes[i], slog.New(slog.NewTextHandler(&log, nil))); err != context.Canceled {
					t.Errorf("Run() = %v, want the context's error", err)
				}
			})
		}
		synctest.Wait()
		wakeAll(t, b, &log)
		cancel()
		done.Wait()
	})
}

var masters = []Node{master("master-0", "192.0.2.20"), master("master-1", "192.0.2.21"), master("master-2", "192.0.2.22")}

func cluster(workers ...Node) Observation {
	return Observation{Nodes: slices.Concat(masters, workers), Known: true, RoutersKnown: true, Former: Former{Known: true}}
}

func (b *board) expect(t *testing.T, what string, writes ...string) {
	t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.writes, writes) {
		t.Errorf("%s: writes %q, want %q", what, b.writes, writes)
	}
	b.writes = nil
}

func TestOneWrites(t *testing.T) {
	story(t, cluster(node("worker-0", "192.0.2.10")), []string{"master-2", "master-1", "master-0", "worker-0"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		b.expect(t, "no list", "master-0 0s")
		time.Sleep(2*renew - 1)
		b.expect(t, "ten minutes of peace: it is renewed", "master-0 5m0s")
		time.Sleep(time.Hour - 2*renew + 1)
		b.expect(t, "fifty more", renewals(10, 60)...)
		b.change(func(s *Observation) { s.Routers = []string{"worker-0"} })
		b.expect(t, "a router", "master-0 1h0m0s")
		if got := b.names(t); got[0] != "worker-0" {
			t.Errorf("the list is %v, want the node with the router first", got)
		}
		time.Sleep(time.Minute)
		b.change(func(*Observation) { b.publish("master-0", "") })
		b.expect(t, "the list was deleted", "master-0 1h1m0s")
		time.Sleep(time.Minute)
		b.change(func(*Observation) { b.publish("master-0", "{") })
		b.expect(t, "the list was garbled", "master-0 1h2m0s")
		time.Sleep(time.Minute)
		newer := uint64(time.Now().Unix()) + 99
		b.change(func(*Observation) { b.publish("master-2", published(newer)) })
		b.expect(t, "another one wrote another list", "master-0 1h3m0s")
		if newest, _, _ := Newest(Lists(b.seen.Nodes), Cluster(dual()), time.Now()); newest.Serial != newer+1 || len(newest.Candidates) != 4 {
			t.Errorf("the list has the number %d and %d entries, want a newer one of 4", newest.Serial, len(newest.Candidates))
		}
		b.change(func(s *Observation) { s.Nodes = s.Nodes[1:] })
		b.expect(t, "its Node is gone, and the next one's turn comes", "master-1 1h3m0s")
		if newest, _, _ := Newest(Lists(b.seen.Nodes), Cluster(dual()), time.Now()); newest.Serial != newer+2 {
			t.Errorf("the list has the number %d, want a newer one than was ever seen", newest.Serial)
		}
	})
}

// renewals are the writes of the first control plane node between two minutes in which nothing
// changes.
func renewals(from, to int) (all []string) {
	for minute := from; minute <= to; minute += int(renew / time.Minute) {
		all = append(all, fmt.Sprint("master-0 ", time.Duration(minute)*time.Minute))
	}
	return all
}

// TestRenewed_ByTheNext holds that another control plane node renews a list whose writer does not.
func TestRenewed_ByTheNext(t *testing.T) {
	story(t, cluster(), []string{"master-1"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		good := notice.Published{Serial: uint64(time.Now().Unix()), Candidates: Rank(dual(), masters, nil, nil)}
		b.change(func(*Observation) { b.publish("master-0", notice.EncodePublished(good)) })
		time.Sleep(renew + slot)
		b.expect(t, "the first one says nothing", "master-1 5m30s")
	})
}

// TestNumberAtItsBound holds that a list whose number no other can exceed is replaced all the same.
func TestNumberAtItsBound(t *testing.T) {
	story(t, cluster(node("worker-0", "192.0.2.10")), []string{"master-0"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		b.expect(t, "no list", "master-0 0s")
		b.change(func(*Observation) { b.publish("master-0", published(1<<53-1)) })
		time.Sleep(rest)
		b.expect(t, "a list of nobody with the highest number", "master-0 5s")
		if got := b.names(t); len(got) != 4 {
			t.Errorf("the list is %v, want all four nodes", got)
		}
	})
}

// TestFirstList_KeepsTheFormer holds that the first list of an upgrade of more nodes than a list
// has room for keeps those of the former release's list, the VIP's holder among them, and waits for
// it.
func TestFirstList_KeepsTheFormer(t *testing.T) {
	var workers []Node
	for i := range notice.MostCandidates + 10 {
		workers = append(workers, node(fmt.Sprintf("worker-%02d", i), fmt.Sprintf("192.0.2.%d", 100+i)))
	}
	holder := workers[len(workers)-1].Name
	seen := cluster(workers...)
	seen.Former = Former{}
	story(t, seen, []string{"master-0"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		time.Sleep(patience / 2)
		b.expect(t, "the former list has not been read")
		b.change(func(s *Observation) {
			s.Former = former(Rank(dual(), s.Nodes, nil, []notice.Candidate{{Name: holder}})...)
		})
		b.expect(t, "it has", "master-0 30s")
		if got := b.names(t); !slices.Contains(got, holder) {
			t.Errorf("the list %v lacks the holder %s", got, holder)
		}
	})
	story(t, seen, []string{"master-0"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		time.Sleep(patience)
		b.expect(t, "it cannot be read", "master-0 1m0s")
	})
}

// TestFormer holds that the former release's object is kept in step where there is one, by the
// first control plane node and after the list itself, that a refusal is not tried again at once,
// and that the object is never made.
func TestFormer(t *testing.T) {
	story(t, cluster(node("worker-0", "192.0.2.10")), []string{"master-0", "master-1"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		b.expect(t, "no list", "master-0 0s")
		time.Sleep(time.Hour)
		b.expect(t, "an hour of peace", renewals(5, 60)...)
		b.change(func(s *Observation) { s.Former = former() })
		time.Sleep(time.Minute)
		b.change(func(s *Observation) { b.refuse = errors.New("forbidden"); s.Former = former() })
		time.Sleep(3 * slot)
		synctest.Wait()
		if want := []string{"master-0 1h0m0s", "master-0 1h1m0s", "master-0 1h1m30s", "master-0 1h2m0s", "master-0 1h2m30s"}; !slices.Equal(b.formers, want) {
			t.Errorf("the object is written %q, want %q", b.formers, want)
		}
		b.expect(t, "all the while")
	})
}

// TestKeys holds that a candidate's new key, as after a start of its monitor, comes into the list,
// and is no reason to write the former release's object.
func TestKeys(t *testing.T) {
	story(t, cluster(node("worker-0", "192.0.2.10")), []string{"master-0"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		b.change(func(s *Observation) { s.Former = former() })
		time.Sleep(time.Minute)
		b.expect(t, "no list", "master-0 0s")
		b.formers = nil
		b.change(func(s *Observation) {
			s.Nodes = slices.Clone(s.Nodes)
			i := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.Name == "worker-0" })
			s.Nodes[i].Key = "a key"
		})
		time.Sleep(time.Minute)
		b.expect(t, "a key", "master-0 1m0s")
		newest, _, _ := Newest(Lists(b.seen.Nodes), Cluster(dual()), time.Now())
		i := slices.IndexFunc(newest.Candidates, func(c notice.Candidate) bool { return c.Name == "worker-0" })
		if i < 0 || newest.Candidates[i].Key != "a key" || len(b.formers) > 0 {
			t.Errorf("the list is %+v, the former object is written %q", newest.Candidates, b.formers)
		}
	})
}

// The first control plane node by name may be gone: the API says so, or it does not know yet.
func TestWriters_FirstNodeGone(t *testing.T) {
	down := func(s *Observation, name string) {
		s.Nodes = slices.Clone(s.Nodes)
		for i, n := range s.Nodes {
			if n.Name == name {
				s.Nodes[i].Ready = false
			}
		}
	}
	for _, tt := range []struct {
		name    string
		running []string
		prepare func(*Observation)
		want    []string
	}{
		{"the first is known to be down", []string{"master-1", "master-2"}, func(s *Observation) { down(s, "master-0") }, []string{"master-1 0s"}},
		{"the first says nothing", []string{"master-1", "master-2"}, func(*Observation) {}, []string{"master-1 30s"}},
		{"two say nothing", []string{"master-2"}, func(*Observation) {}, []string{"master-2 1m0s"}},
		{"a node that the API calls down writes last", []string{"master-0"}, func(s *Observation) { down(s, "master-0") }, []string{"master-0 1m0s"}},
		{"a node that is no control plane node writes never", []string{"worker-0", "unknown-0"}, func(*Observation) {}, nil},
		{"nothing heard", []string{"master-0", "master-1"}, func(s *Observation) { s.Known = false }, nil},
		{"nothing heard of the routers", []string{"master-0", "master-1"}, func(s *Observation) { s.RoutersKnown = false }, []string{"master-0 1m0s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := cluster(node("worker-0", "192.0.2.10"))
			tt.prepare(&seen)
			story(t, seen, tt.running, func(t *testing.T, b *board, _ *bytes.Buffer) {
				time.Sleep(renew - 1)
				b.expect(t, "five minutes", tt.want...)
			})
		})
	}
}

// A list that was wrong for a moment gives nobody else's turn away.
func TestWrongIsCountedAnew(t *testing.T) {
	story(t, cluster(), []string{"master-1"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		good := notice.EncodePublished(notice.Published{Serial: uint64(time.Now().Unix()) + 600, Candidates: Rank(dual(), masters, nil, nil)})
		for range 10 {
			time.Sleep(29 * time.Second)
			b.change(func(*Observation) { b.publish("master-0", good) })
			synctest.Wait()
			b.change(func(*Observation) { b.publish("master-0", "") })
			synctest.Wait()
		}
		b.expect(t, "wrong for 29 s, ten times")
	})
}

// TestFewChangesAtOnce has nodes leave and return one after the other, as when somebody replaces
// machines.
func TestFewChangesAtOnce(t *testing.T) {
	story(t, cluster(node("worker-0", "192.0.2.10"), node("worker-1", "192.0.2.11")), []string{"master-0"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		b.expect(t, "no list", "master-0 0s")
		time.Sleep(time.Hour)
		b.expect(t, "an hour of peace", renewals(5, 60)...)
		var want []string
		for i := range atOnce {
			b.change(func(s *Observation) { s.Routers = []string{fmt.Sprint("worker-", i%2)} })
			want = append(want, fmt.Sprint("master-0 ", time.Hour+time.Duration(i)*time.Second))
			time.Sleep(time.Second)
		}
		b.expect(t, "changes one after the other", want...)
	})
}

// Each write goes to every worker: a storm of changes is some at once and then a write each five
// seconds, and the last word is written.
func TestStormOfChanges(t *testing.T) {
	story(t, cluster(node("worker-0", "192.0.2.10"), node("worker-1", "192.0.2.11")), []string{"master-0"}, func(t *testing.T, b *board, _ *bytes.Buffer) {
		for i := range 300 {
			b.change(func(s *Observation) { s.Routers = []string{fmt.Sprint("worker-", i%2)} })
			time.Sleep(time.Second)
		}
		time.Sleep(rest)
		synctest.Wait()
		if n := len(b.writes); n > 61+atOnce {
			t.Errorf("%d writes in five minutes, want %d and one each %v", n, atOnce, rest)
		}
		if got := b.names(t); got[0] != "worker-1" {
			t.Errorf("the list is %v, want the last router first", got)
		}
	})
}

func TestRefusedWrites_LoggedOnce(t *testing.T) {
	story(t, Observation{}, []string{"master-0"}, func(t *testing.T, b *board, log *bytes.Buffer) {
		b.change(func(s *Observation) { *s = cluster(); b.refuse = errors.New("annotate Node a: forbidden") })
		time.Sleep(20 * time.Second)
		b.expect(t, "a while of refusal", "master-0 0s", "master-0 5s", "master-0 10s", "master-0 15s", "master-0 20s")
		if n := strings.Count(log.String(), "forbidden"); n != 1 {
			t.Errorf("log:\n%swant one line", log)
		}
	})
}

// TestWriter_Lapse holds that a Node which loses addresses for a moment keeps its place in the list
// (K-16), that what it has lost counts no longer than Lapse, and no longer than until another has it.
func TestWriter_Lapse(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const whole, m0 = "worker-0[192.0.2.10 2001:db8::10]", "master-0[192.0.2.20]"
	before := node("worker-0", "192.0.2.10", "2001:db8::10")
	for name, tt := range map[string]struct {
		nodes     []Node
		once, end string
	}{
		"one family":          {[]Node{node("worker-0", "2001:db8::10")}, whole, "worker-0[2001:db8::10]"},
		"all addresses":       {[]Node{node("worker-0")}, whole, ""},
		"another one":         {[]Node{node("worker-0", "192.0.2.11", "2001:db8::10")}, "worker-0[192.0.2.11 2001:db8::10]", "worker-0[192.0.2.11 2001:db8::10]"},
		"it moves to another": {[]Node{node("worker-0", "2001:db8::10"), node("worker-1", "192.0.2.10")}, "worker-0[2001:db8::10] worker-1[192.0.2.10]", "worker-0[2001:db8::10] worker-1[192.0.2.10]"},
		"it is deleted":       {nil, "", ""},
	} {
		w := NewWriter(dual(), "master-0")
		list, known := "", "" // as the API has it
		for _, round := range []struct {
			at    time.Duration
			nodes []Node
			want  string
		}{{0, []Node{before}, whole}, {time.Minute, tt.nodes, tt.once}, {time.Minute + peer.Lapse, tt.nodes, tt.end}} {
			m := master("master-0", "192.0.2.20")
			m.List = list
			want, again := w.Decide(now.Add(round.at), Observation{Nodes: append(slices.Clone(round.nodes), m), Known: true, RoutersKnown: true, Former: Former{Known: true}, Last: now.Add(round.at)})
			if round.at == time.Minute && (again == 0 || again > peer.Lapse) {
				t.Errorf("%s: it decides again in %v", name, again)
			}
			if want.List != "" {
				list = want.List
				published, err := notice.ReadPublished(list, Cluster(dual()))
				if err != nil {
					t.Fatal(err)
				}
				known = ""
				for _, c := range published.Candidates {
					known += " " + fmt.Sprint(c.Name, c.Addresses)
				}
			}
			if got := strings.TrimSpace(known); got != strings.TrimSpace(m0+" "+round.want) {
				t.Errorf("%s, after %v: %s", name, round.at, got)
			}
		}
	}
}
