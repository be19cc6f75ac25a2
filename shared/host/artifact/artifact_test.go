package artifact

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
)

// origin is a real HTTP server of one file, with the faults of real ones.
type origin struct {
	*httptest.Server
	content []byte
	answer  func(o *origin, w http.ResponseWriter, r *http.Request) (done bool)

	mu     sync.Mutex
	ranges []string // of the requests
}

func serve(t *testing.T, content []byte) *origin {
	o := &origin{content: content}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.ranges = append(o.ranges, r.Header.Get("Range"))
		o.mu.Unlock()
		if o.answer == nil || !o.answer(o, w, r) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(o.content))
		}
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *origin) asked() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.ranges)
}

// cut sends some bytes of the file, of which the client is told the whole length, and breaks the
// line.
func cut(bytes int) func(*origin, http.ResponseWriter, *http.Request) bool {
	return func(o *origin, w http.ResponseWriter, r *http.Request) bool {
		from := 0
		if text, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
			from, _ = strconv.Atoi(strings.TrimSuffix(text, "-"))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(o.content)-1, len(o.content)))
		}
		if len(o.content)-from <= bytes {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(o.content)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(o.content[from : from+bytes])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

func random(size int) []byte {
	content := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(content)
	return content
}

func zip(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(content); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type place struct {
	*Store
	path string
}

func newPlace(t *testing.T) place {
	dir := t.TempDir()
	return place{&Store{Records: filepath.Join(dir, "sources"), Silence: 10 * time.Second}, filepath.Join(dir, "images", "os.raw")}
}

func (p place) get(t *testing.T, a artifact.Artifact) error {
	t.Helper()
	_, err := p.Fetch(t.Context(), "osImage", a, p.path, nil)
	return err
}

// holds holds what is in the place: the content, its digest beside it, its record, and nothing
// else.
func (p place) holds(t *testing.T, a artifact.Artifact, content []byte) {
	t.Helper()
	got, err := os.ReadFile(p.path)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes are there, want %d (%v)", len(got), len(content), err)
	}
	line, err := os.ReadFile(p.path + ".sha256")
	if err != nil || string(line) != sum(content)+"  os.raw\n" {
		t.Errorf("the digest beside it is %q, %v", line, err)
	}
	files, err := p.Check("osImage", Source(a))
	if want := []File{{p.path, sum(content), int64(len(content))}}; err != nil || !slices.Equal(files, want) {
		t.Errorf("the check reports %+v, %v, want %+v", files, err, want)
	}
	p.only(t, "os.raw", "os.raw.sha256")
}

func (p place) only(t *testing.T, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(p.path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Errorf("the directory has %q, want %q", got, names)
	}
}

func TestFetch(t *testing.T) {
	content := random(300_000)
	for name, served := range map[string][]byte{"os.raw": content, "os.raw.gz": zip(t, content)} {
		for _, broken := range []int{0, 90_000} {
			t.Run(fmt.Sprint(name, " broken after ", broken), func(t *testing.T) {
				p, o := newPlace(t), serve(t, served)
				if broken > 0 {
					o.answer = cut(broken)
				}
				a := artifact.Artifact{URL: o.URL + "/" + name, SHA256: sum(served)}
				last := int64(0)
				if _, err := p.Fetch(t.Context(), "osImage", a, p.path, func(done, total int64) {
					if done < last || total != int64(len(served)) {
						t.Errorf("progress %d of %d after %d", done, total, last)
					}
					last = done
				}); err != nil {
					t.Fatal(err)
				}
				p.holds(t, a, content)
				if last != int64(len(served)) {
					t.Errorf("the last progress is %d of %d", last, len(served))
				}
				if asked := o.asked(); broken > 0 && (len(asked) != 4 || asked[0] != "" || asked[1] != "bytes=90000-" || asked[3] != "bytes=270000-") {
					t.Errorf("asked for %q", asked)
				}
			})
		}
	}
}

// TestFetch_Again holds that a call that follows a killed one asks for the rest alone, and begins
// anew if what was left is of another file, or is not on the disk after a power cut.
func TestFetch_Again(t *testing.T) {
	content := random(200_000)
	lost := slices.Clone(content[:150_000])
	clear(lost[100_000:])
	for _, tt := range []struct {
		name  string
		left  []byte
		asked []string
	}{
		{"a beginning", content[:150_000], []string{"bytes=150000-"}},
		{"all of it", content, []string{"bytes=200000-"}},
		{"zeroes", lost, []string{"bytes=150000-", ""}},
		{"more than there is", append(slices.Clone(content), 1, 2), []string{"bytes=200002-", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, o := newPlace(t), serve(t, content)
			if err := errors.Join(os.MkdirAll(filepath.Dir(p.path), 0o755), os.WriteFile(partOf(p.path), tt.left, 0o644)); err != nil {
				t.Fatal(err)
			}
			a := artifact.Artifact{URL: o.URL + "/os.raw", SHA256: sum(content)}
			if err := p.get(t, a); err != nil {
				t.Fatal(err)
			}
			p.holds(t, a, content)
			if !slices.Equal(o.asked(), tt.asked) {
				t.Errorf("asked for %q, want %q", o.asked(), tt.asked)
			}
		})
	}
}

// TestFetch_NoRanges has a server that sends all of the file again.
func TestFetch_NoRanges(t *testing.T) {
	content := random(200_000)
	p, o := newPlace(t), serve(t, content)
	first := true
	o.answer = func(o *origin, w http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Range")
		if first {
			first = false
			return cut(50_000)(o, w, r)
		}
		return false
	}
	a := artifact.Artifact{URL: o.URL + "/os.raw", SHA256: sum(content)}
	if err := p.get(t, a); err != nil {
		t.Fatal(err)
	}
	p.holds(t, a, content)
}

// A slow line takes as long as it takes: only its silence ends a transfer.
func TestFetch_Slow(t *testing.T) {
	p, o := newPlace(t), serve(t, random(24))
	p.Silence = time.Second
	o.answer = func(o *origin, w http.ResponseWriter, _ *http.Request) bool {
		for piece := range slices.Chunk(o.content, 2) {
			_, _ = w.Write(piece)
			w.(http.Flusher).Flush()
			time.Sleep(p.Silence / 6)
		}
		return true
	}
	a := artifact.Artifact{URL: o.URL + "/os.raw", SHA256: sum(o.content)}
	if err := p.get(t, a); err != nil {
		t.Fatal(err)
	}
	p.holds(t, a, o.content)
	if n := len(o.asked()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// TestFetch_KeepsTheFormer holds that whatever goes wrong, a good file of before stays.
func TestFetch_KeepsTheFormer(t *testing.T) {
	former, content := random(1000), random(100_000)
	status := func(code int) func(*origin, http.ResponseWriter, *http.Request) bool {
		return func(_ *origin, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			return true
		}
	}
	for _, tt := range []struct {
		name   string
		file   string
		sum    string
		answer func(*origin, http.ResponseWriter, *http.Request) bool
		want   string
		left   []string // beside the former file
		asked  int
	}{
		{name: "another file", file: "/os.raw", sum: sum(former[1:]), want: "has the SHA-256 " + sum(content) + ", want " + sum(former[1:]), asked: 1},
		{name: "another file, compressed", file: "/os.raw.gz", sum: sum(content), want: "not compressed by gzip", asked: 1},
		{name: "an account is wanted", file: "/os.raw", answer: status(401), want: "401 Unauthorized: let this machine read it", asked: 1},
		{name: "not there", file: "/os.raw?token=hunter2", answer: status(404), want: "404 Not Found: fix the URL", asked: 1},
		{name: "never well", file: "/os.raw", answer: status(503), want: "nothing has arrived for 300ms: the server answers 503"},
		{name: "silence", file: "/os.raw", answer: func(o *origin, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(content[:10])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		}, want: "nothing has arrived for 300ms", left: []string{".os.raw.part"}, asked: 1},
		{name: "other bytes than asked for", file: "/os.raw", answer: func(o *origin, w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Range") == "" {
				return cut(10)(o, w, r)
			}
			w.Header().Set("Content-Range", "bytes 5-99999/100000")
			w.WriteHeader(http.StatusPartialContent)
			return true
		}, want: "asked for those from 10", left: []string{".os.raw.part"}, asked: 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, o := newPlace(t), serve(t, content)
			if p.Silence = 10 * time.Second; strings.Contains(tt.want, "nothing has arrived") {
				p.Silence = 300 * time.Millisecond
			}
			old := serve(t, former)
			was := artifact.Artifact{URL: old.URL + "/os.raw", SHA256: sum(former)}
			if err := p.get(t, was); err != nil {
				t.Fatal(err)
			}
			o.answer = tt.answer
			if tt.sum == "" {
				tt.sum = sum(content)
			}
			err := p.get(t, artifact.Artifact{URL: o.URL + tt.file, SHA256: tt.sum})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if got := len(o.asked()); tt.asked > 0 && got != tt.asked {
				t.Errorf("asked %d times, want %d", got, tt.asked)
			}
			p.only(t, append(tt.left, "os.raw", "os.raw.sha256")...)
			if files, err := p.Check("osImage", Source(was)); err != nil || len(files) != 1 {
				t.Errorf("the former file is not good: %v", err)
			}
		})
	}
}

// TestFetch_Cancelled holds that the end of a caller ends a transfer at once, and that the next one
// continues it.
func TestFetch_Cancelled(t *testing.T) {
	content := random(100_000)
	p, o := newPlace(t), serve(t, content)
	ctx, cancel := context.WithCancel(t.Context())
	o.answer = func(o *origin, w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			return false
		}
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(content[:60_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	a := artifact.Artifact{URL: o.URL + "/os.raw", SHA256: sum(content)}
	_, err := p.Fetch(ctx, "osImage", a, p.path, func(done, _ int64) {
		if done == 60_000 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the caller", err)
	}
	if err := p.get(t, a); err != nil {
		t.Fatal(err)
	}
	p.holds(t, a, content)
	if want := []string{"", "bytes=60000-"}; !slices.Equal(o.asked(), want) {
		t.Errorf("asked for %q, want %q", o.asked(), want)
	}
}

// TestFetch_LocalFile has a file of this machine, which is already in its place the second time.
func TestFetch_LocalFile(t *testing.T) {
	content := random(5000)
	p := newPlace(t)
	path := filepath.Join(t.TempDir(), "a b.raw")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := artifact.Parse("file://" + strings.ReplaceAll(path, " ", "%20") + "@sha256:" + sum(content))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.get(t, a); err != nil {
		t.Fatal(err)
	}
	p.holds(t, a, content)
	if err := errors.Join(os.Remove(path), os.RemoveAll(p.Records)); err != nil {
		t.Fatal(err)
	}
	if err := p.get(t, a); err != nil { // it is there, and needs no other one
		t.Fatal(err)
	}
	p.holds(t, a, content)
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	if err := p.get(t, a); err == nil || !strings.Contains(err.Error(), "open it on this machine") {
		t.Errorf("%v, want that there is no such file", err)
	}
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.get(t, a); err == nil {
		t.Error("a pipe was taken for a file")
	}
}

// TestFetch_InItsPlace holds that a file that is in its place, without a record, needs no room for another
// one, and that a link there becomes a file.
func TestFetch_InItsPlace(t *testing.T) {
	content := random(2 * between)
	a := artifact.Artifact{URL: "http://192.0.2.1/os.raw", SHA256: sum(content)}
	for name, put := range map[string]func(p place) error{
		"a file": func(p place) error {
			p.room = func(string) (uint64, error) { return 0, nil }
			return os.WriteFile(p.path, content, 0o600)
		},
		"and a former part": func(p place) error {
			p.room = func(string) (uint64, error) { return 0, nil }
			return errors.Join(os.WriteFile(p.path, content, 0o600), os.WriteFile(partOf(p.path), content[:100], 0o600))
		},
		"a link": func(p place) error {
			own := filepath.Join(t.TempDir(), "own.raw")
			return errors.Join(os.WriteFile(own, content, 0o600), os.Symlink(own, p.path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if err := errors.Join(os.Mkdir(filepath.Dir(p.path), 0o755), put(p)); err != nil {
				t.Fatal(err)
			}
			if err := p.get(t, a); err != nil {
				t.Fatal(err)
			}
			p.holds(t, a, content)
			if info, err := os.Lstat(p.path); err != nil || info.Mode() != 0o644 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}

// TestCheck_AfterAPowerCut holds that a record is trusted as far as the bytes on the disk.
func TestCheck_AfterAPowerCut(t *testing.T) {
	content := random(100_000)
	a := artifact.Artifact{SHA256: sum(content)}
	for name, change := range map[string]func(p place) error{
		"zeroes at the end": func(p place) error {
			return os.WriteFile(p.path, append(slices.Clone(content[:90_000]), make([]byte, 10_000)...), 0o644)
		},
		"shorter":      func(p place) error { return os.Truncate(p.path, 10) },
		"gone":         func(p place) error { return os.Remove(p.path) },
		"no record":    func(p place) error { return os.RemoveAll(p.Records) },
		"empty record": func(p place) error { return os.WriteFile(p.record("osImage"), nil, 0o644) },
		"a directory":  func(p place) error { return errors.Join(os.Remove(p.path), os.Mkdir(p.path, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			p, o := newPlace(t), serve(t, content)
			a.URL = o.URL + "/os.raw"
			if err := p.get(t, a); err != nil {
				t.Fatal(err)
			}
			if err := change(p); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Check("osImage", Source(a)); !errors.Is(err, ErrAbsent) {
				t.Errorf("the check reports %v", err)
			}
			if name == "a directory" {
				return
			}
			if err := p.get(t, a); err != nil {
				t.Fatal(err)
			}
			p.holds(t, a, content)
		})
	}
	p := newPlace(t)
	if _, err := p.Check("osImage", Source(a)); !errors.Is(err, ErrAbsent) {
		t.Errorf("nothing was fetched yet: %v", err)
	}
}

// TestFetch_NoRoom holds that too large a file is refused before it is fetched, and that one whose
// size is not known before is given up while others still have room.
func TestFetch_NoRoom(t *testing.T) {
	content := make([]byte, 40<<20)
	for name, served := range map[string][]byte{"os.raw": content, "os.raw.gz": zip(t, content)} {
		t.Run(name, func(t *testing.T) {
			p, o := newPlace(t), serve(t, served)
			free := uint64(55 << 20)
			p.room = func(string) (uint64, error) {
				free -= 15 << 20
				return free, nil
			}
			p.Reserve = 30 << 20
			err := p.get(t, artifact.Artifact{URL: o.URL + "/" + name, SHA256: sum(served)})
			if !errors.As(err, new(Full)) || !strings.Contains(err.Error(), filepath.Dir(p.path)+" is full") {
				t.Errorf("%v, want the full disk", err)
			}
			p.only(t)
		})
	}
}

// TestFetch_WriteFails has the kernel refuse to write more: of this process, which runs this test
// alone, no file may be longer than a limit.
func TestFetch_WriteFails(t *testing.T) {
	if os.Getenv("LIMITED") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFetch_WriteFails$", "-test.v")
		cmd.Env = append(os.Environ(), "LIMITED=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	former, content := random(1000), random(300_000)
	p, o := newPlace(t), serve(t, content)
	was := artifact.Artifact{URL: serve(t, former).URL + "/os.raw", SHA256: sum(former)}
	if err := p.get(t, was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 100_000, Max: unix.RLIM_INFINITY}); err != nil {
		t.Fatal(err)
	}
	a := artifact.Artifact{URL: o.URL + "/os.raw", SHA256: sum(content)}
	if err := p.get(t, a); !errors.As(err, new(Full)) {
		t.Errorf("%v, want the full disk", err)
	}
	p.only(t, "os.raw", "os.raw.sha256")
	if files, err := p.Check("osImage", Source(was)); err != nil || len(files) != 1 {
		t.Errorf("the former file is not good: %v", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}); err != nil {
		t.Fatal(err)
	}
	if err := p.get(t, a); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
	p.holds(t, a, content)
}

func TestAdopt(t *testing.T) {
	dir := t.TempDir()
	from, http, tftp := filepath.Join(dir, "x"), filepath.Join(dir, "http", "a", "snponly.efi"), filepath.Join(dir, "tftp", "snponly.efi")
	if err := os.WriteFile(from, []byte("iPXE"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Store{Records: filepath.Join(dir, "sources")}
	want := []File{{http, sum([]byte("iPXE")), 4}, {tftp, sum([]byte("iPXE")), 4}}
	if files, err := s.Adopt("programs", "r/ironic:1", []Staged{{from, http}, {from, tftp}}); err != nil || !slices.Equal(files, want) {
		t.Fatalf("%+v, %v", files, err)
	}
	if files, err := s.Check("programs", "r/ironic:1"); err != nil || !slices.Equal(files, want) {
		t.Errorf("%+v, %v", files, err)
	}
	if info, err := os.Stat(tftp); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("other programs cannot read it: %v, %v", info.Mode(), err)
	}
	if _, err := s.Check("programs", "r/ironic:2"); !errors.Is(err, ErrAbsent) {
		t.Errorf("of another image: %v", err)
	}
	if _, err := s.Adopt("programs", "r/ironic:2", []Staged{{from, http}, {filepath.Join(dir, "absent"), tftp}}); err == nil {
		t.Error("a file that is not there was put in its place")
	}
}

// FuzzContentRange holds that no server's answer is taken for an offset that it does not have.
func FuzzContentRange(f *testing.F) {
	f.Add("bytes 10-99/100")
	f.Add("bytes 0-0/*")
	f.Add("bytes */100")
	f.Fuzz(func(t *testing.T, text string) {
		first, total, ok := contentRange(text)
		if ok && (first < 0 || total != 0 && total <= first) {
			t.Errorf("%q: %d of %d", text, first, total)
		}
	})
}
