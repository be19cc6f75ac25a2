package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/role"
)

// child is set in the process that TestThousand measures.
const child = "ONPREM_INFRA_THOUSAND"

// TestThousand holds what an importer that serves many clusters needs: a thousand, for all roles,
// from install-config to files, take no more of a processor than ten times a fixed piece of work that
// is done in between, some 10 s; and what the process holds after them is what it held after a
// hundred. How much a processor does in a second depends on the machine, and on what else it does.
func TestThousand(t *testing.T) {
	if os.Getenv(child) != "" {
		thousand(t)
		return
	}
	var took, fixed float64
	var after100, after1000 int
	const most = 10 // times the fixed work
	for range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestThousand$", "-test.v")
		// A test's program samples what is allocated, which takes memory; others do not unless they
		// say so.
		cmd.Env = append(os.Environ(), child+"=1", "GOMAXPROCS=1", "GODEBUG=memprofilerate=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, line, ok := strings.Cut(string(out), "measured ")
		if _, err := fmt.Sscanf(line, "%f s %f s %d KiB %d KiB", &took, &fixed, &after100, &after1000); !ok || err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		t.Logf("1,000 clusters: %.1f s of one processor, the fixed work %.1f s; resident %d KiB after 100, %d KiB after 1,000", took, fixed, after100, after1000)
		if took < most*fixed {
			break
		}
	}
	if took >= most*fixed {
		t.Errorf("1,000 clusters take %.1f s of one processor, want less than %.1f", took, most*fixed)
	}
	if after1000*10 > after100*11 {
		t.Errorf("resident %d KiB after 1,000 clusters, %d after 100: want 1.1 times that at most", after1000, after100)
	}
}

// thousand renders, and prints what it took.
func thousand(t *testing.T) {
	began := processor(t)
	after100, fixed := 0, time.Duration(0)
	for n := range 1000 {
		p, err := compiled(installConfig(n))
		if err != nil {
			t.Fatalf("cluster %d: %v", n, err)
		}
		sets, err := goods(p)
		if err != nil {
			t.Fatalf("cluster %d: %v", n, err)
		}
		for r, set := range sets {
			if len(set.Tree()) < 5 {
				t.Fatalf("cluster %d: %s gets %v", n, r, set.Paths())
			}
		}
		if n%100 == 99 {
			fixed += work(t)
		}
		if n == 99 {
			after100 = resident(t)
		}
	}
	took := processor(t) - began - fixed
	fmt.Printf("measured %f s %f s %d KiB %d KiB\n", took.Seconds(), fixed.Seconds(), after100, resident(t))
}

// work is what a fixed piece of work takes of a processor: text that is read and written, as the
// clusters' is.
func work(t *testing.T) time.Duration {
	t.Helper()
	text, err := json.Marshal(strings.Fields(string(installConfig(1))))
	began := processor(t)
	for range 20_000 {
		var words any
		if err == nil {
			err = json.Unmarshal(text, &words)
		}
		if err == nil {
			_, err = json.Marshal(words)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return processor(t) - began
}

// processor is the time of processors that this process has taken.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// resident is the memory of this process, in KiB, when what it does not need any more is given
// back: what is not yet collected is of chance.
func resident(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if size, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Fatal("the kernel does not say how much memory is resident")
	return 0
}

// TestConcurrent holds that callers do not disturb each other: what many make at once is what each
// makes alone. `go test -race` sees more where there is a C compiler; the law that no importable
// room changes what a package holds (test/laws_importer_test.go) holds everywhere.
func TestConcurrent(t *testing.T) {
	const clusters, callers = 15, 8
	made := func(n int) (map[role.Role][]byte, error) {
		p, err := compiled(installConfig(n))
		if err != nil {
			return nil, err
		}
		return documents(p)
	}
	var alone [clusters]map[role.Role][]byte
	for n := range alone {
		var err error
		if alone[n], err = made(n); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range clusters {
				n := (i + caller) % clusters
				if got, err := made(n); err != nil || !maps.EqualFunc(got, alone[n], bytes.Equal) {
					t.Errorf("caller %d gets other documents for cluster %d than alone (%v)", caller, n, err)
				}
			}
		})
	}
	all.Wait()
}

// TestShared holds that callers may use one plan at once, and that what one does with its documents
// and sets is not seen by another.
func TestShared(t *testing.T) {
	p, err := compiled(installConfig(10))
	if err != nil {
		t.Fatal(err)
	}
	want, err := documents(p)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := documents(p); err != nil || !maps.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("one plan gives other documents (%v)", err)
			}
			sets, err := goods(p)
			if err != nil {
				t.Error(err)
			}
			for _, set := range sets {
				for _, f := range set.Tree() {
					clear(f.Contents)
				}
			}
		})
	}
	all.Wait()
	if again, err := documents(p); err != nil || !maps.EqualFunc(again, want, bytes.Equal) {
		t.Errorf("what callers did with their files is seen (%v)", err)
	}
}

// BenchmarkGoods is a cluster from install-config to the files of all roles.
func BenchmarkGoods(b *testing.B) {
	for n := 0; b.Loop(); n++ {
		p, err := compiled(installConfig(n % 1000))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := goods(p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDocuments is a plan's documents of all roles.
func BenchmarkDocuments(b *testing.B) {
	p, err := compiled(installConfig(10))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := documents(p); err != nil {
			b.Fatal(err)
		}
	}
}
