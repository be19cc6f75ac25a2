package readiness

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
)

// final is an answer that no repetition changes.
type final struct{ error }

func (final) Refused() bool { return true }

// TestFiles holds which files keep hosts from being installed, and what another machine cannot see.
func TestFiles(t *testing.T) {
	silent, gone := errors.New("connection refused"), final{errors.New("the server answers 404 Not Found: fix the URL")}
	for _, tt := range []struct {
		name      string
		url       string
		size      int64
		err       error
		free      uint64
		elsewhere bool
		want      []string // how the blocking ones begin, then after "-" the warnings
		memory    float64  // that hosts need, in GiB; 0 for the ramdisk's
	}{
		{"all is well", "https://images.example.com/os.raw?token=S3cret", 2 << 30, nil, 2 << 30, false, []string{"-"}, 0},
		{"an image that has to fit in memory", "https://images.example.com/os.qcow2", 2 << 30, nil, 3 << 30, false, []string{"-"}, preflight.RamdiskGiB + 2},
		{"no room", "https://images.example.com/os.raw", 2 << 30, nil, 2<<30 - 1, false, []string{"image: the disk of this machine: it has 2.0 GiB left", "-"}, 0},
		{"not there", "https://images.example.com/os.raw?token=S3cret", 0, gone, 9 << 30, false, []string{"image: osImage, https://images.example.com/os.raw: the server answers 404", "-"}, 0},
		{"not there, seen from elsewhere", "https://images.example.com/os.raw", 0, gone, 0, true, []string{"image: osImage", "-"}, 0},
		{"not reached", "https://images.example.com/os.raw", 0, silent, 9 << 30, false, []string{"image: osImage", "-"}, 0},
		{"not reached from elsewhere", "https://images.example.com/os.raw", 0, silent, 0, true, []string{"-", "not seen: image of osImage"}, 0},
		{"a file of the machine, seen from elsewhere", "file:///os.raw", 0, gone, 0, true, []string{"-", "not seen: image of osImage"}, 0},
		{"its size is not known", "https://images.example.com/os.qcow2", 0, nil, 1, false, []string{"-", "not seen: image of osImage"}, 0},
	} {
		h := host()
		h.Machine = !tt.elsewhere
		h.Plan.Network = "disabled" // the link is another test's
		h.Targets = []preflight.Target{{Host: "m0"}}
		h.Files = Files{Wanted: []File{{Key: "osImage", Artifact: artifact.Artifact{URL: tt.url, SHA256: strings.Repeat("a", 64)}}},
			Size: func(context.Context, artifact.Artifact) (int64, error) { return tt.size, tt.err }}
		if !tt.elsewhere {
			h.Files.Free = func() (uint64, error) { return tt.free, nil }
		}
		var r Report
		h.files(t.Context(), &r)
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.String())
		}
		got = append(got, "-")
		for _, u := range r.Unseen {
			got = append(got, "not seen: "+u)
		}
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) || strings.Contains(strings.Join(got, ""), "S3cret") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if need := h.Targets[0].Want.MemoryGiB; need != tt.memory {
			t.Errorf("%s: %v GiB of memory, want %v", tt.name, need, tt.memory)
		}
	}
}

// TestFiles_Here holds that a file which is fetched counts for the memory of hosts alone: it is not asked
// for, and has its room. The largest image counts, and what a target wants already.
func TestFiles_Here(t *testing.T) {
	h := host()
	sum := strings.Repeat("a", 64)
	h.Targets = []preflight.Target{{Host: "m0"}, {Host: "m1", Want: preflight.Want{MemoryGiB: 32}}}
	h.Files = Files{Wanted: []File{
		{Key: "osImage", Artifact: artifact.Artifact{URL: "https://images.example.com/os.qcow2.gz", SHA256: sum}, Here: 8 << 30},
		{Key: "another", Artifact: artifact.Artifact{URL: "https://images.example.com/small.qcow2", SHA256: sum}, Here: 1 << 30}},
		Size: func(context.Context, artifact.Artifact) (int64, error) { return 0, errors.New("it was asked for") },
		Free: func() (uint64, error) { return 0, nil }}
	var r Report
	h.files(t.Context(), &r)
	if len(r.Findings) != 0 || len(r.Unseen) != 0 {
		t.Errorf("findings %v, not seen %v", r.Findings, r.Unseen)
	}
	for i, want := range []float64{preflight.RamdiskGiB + 8, 32} {
		if got := h.Targets[i].Want.MemoryGiB; got != want {
			t.Errorf("%s: %v GiB of memory, want %v", h.Targets[i].Host, got, want)
		}
	}
}
