package readiness

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
)

// checkImage is the check of the files that the bootstrap machine fetches for hosts.
const checkImage = "image"

// Files are what the bootstrap machine fetches, and where it keeps them.
type Files struct {
	Wanted []File
	Size   func(context.Context, artifact.Artifact) (int64, error)
	Free   func() (uint64, error) // bytes, on the bootstrap machine; nil elsewhere
}

// File is one of them.
type File struct {
	Key string // of the images
	artifact.Artifact
	// Here is its size on the machine, unpacked; 0 while it is still to be fetched.
	Here int64
}

const gib = 1 << 30

// files asks for the size of each file that is not here. The digest is of the whole file, so that
// only the transfer shows it.
func (h *Host) files(ctx context.Context, r *Report) {
	sizes, failed := make([]int64, len(h.Files.Wanted)), make([]error, len(h.Files.Wanted))
	var asked sync.WaitGroup
	for i, f := range h.Files.Wanted {
		switch {
		case f.Here > 0:
			sizes[i] = f.Here
		case f.Local() != "" && !h.Machine:
			failed[i] = errors.New("it is a file of the bootstrap machine")
		default:
			asked.Go(func() { sizes[i], failed[i] = h.Files.Size(ctx, f.Artifact) })
		}
	}
	asked.Wait()
	total := int64(0)
	for i, f := range h.Files.Wanted {
		subject := fmt.Sprintf("%s, %s", f.Key, f.Shown())
		var final interface{ Refused() bool }
		switch err := failed[i]; {
		case err != nil && (h.Machine || errors.As(err, &final)):
			r.Findings = append(r.Findings, image(severe, subject, err.Error(),
				"fix its URL, or have its server answer this machine: no host is installed "+
					"without it"))
		case err != nil:
			r.Unseen = append(r.Unseen, fmt.Sprintf("%s of %s: %v", checkImage, subject, err))
		case sizes[i] == 0:
			r.Unseen = append(r.Unseen, fmt.Sprintf("%s of %s: its server does not report its "+
				"size", checkImage, subject))
		default:
			if f.Here == 0 {
				total += sizes[i]
			}
			h.inMemory(f, sizes[i])
		}
	}
	h.room(r, total)
}

// inMemory has hosts checked for the memory that an image takes: a ramdisk writes a raw one as it
// arrives, and has to hold any other. It takes more if the image is compressed, and still to be
// fetched: it is unpacked on this machine.
func (h *Host) inMemory(f File, size int64) {
	if !f.QCOW2() {
		return
	}
	for i := range h.Targets {
		want := &h.Targets[i].Want
		want.MemoryGiB = max(want.MemoryGiB, preflight.RamdiskGiB+float64(size)/gib)
	}
}

// room is whether the machine's disk has room for all files that it still fetches. Compressed ones
// take more than their size.
func (h *Host) room(r *Report, total int64) {
	if h.Files.Free == nil || total == 0 {
		return
	}
	free, err := h.Files.Free()
	if err != nil {
		r.Unseen = append(r.Unseen, fmt.Sprintf("%s: %v", checkImage, err))
		return
	}
	if free < uint64(total) {
		r.Findings = append(r.Findings, image(severe, "the disk of this machine",
			fmt.Sprintf("it has %.1f GiB left, and the files for hosts are at least %.1f GiB",
				float64(free)/gib, float64(total)/gib),
			"give the machine a larger disk, or choose a smaller image"))
	}
}

func image(severity, subject, seen, do string) Finding {
	return Finding{Check: checkImage, Severity: severity, Vantage: preflight.Vantage,
		Fault: facts.Fault{Subject: subject, Seen: seen, Do: do}}
}
