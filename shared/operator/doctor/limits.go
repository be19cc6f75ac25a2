package doctor

import (
	"fmt"
	"strings"
)

// Limits are what this host's kernel leaves to programs of ours.
type Limits struct {
	Dir         string // where programs leave each other files
	Bytes       uint64 // left in its file system
	Files       uint64 // that can be made there
	Unwatchable string // why no more files can be watched; empty if they can
}

// The least that is enough: some small files, each with a second one while it is replaced.
const (
	leastBytes = 256 << 10
	leastFiles = 16
)

// watchers lists the inotify instances of all processes.
const watchers = "find /proc/[0-9]*/fd -lname anon_inode:inotify"

func limits(f Facts) (out []Finding) {
	l := f.Limits
	if l == nil {
		return nil
	}
	if l.Bytes < leastBytes || l.Files < leastFiles {
		out = append(out, Finding{
			Looked: "the file system of " + l.Dir,
			Seen:   fmt.Sprintf("it is full: %d KiB and %d files are left, and programs cannot tell each other what changes", l.Bytes>>10, l.Files),
			Do:     "see what fills it (df -h and df -i, then du -xh on its mount point), and remove that",
		})
	}
	if l.Unwatchable != "" {
		out = append(out, Finding{
			Looked: "whether programs can watch files (inotify)",
			Seen:   "they cannot: " + l.Unwatchable + ": keepalived may follow none of this host's checks",
			Do:     "raise fs.inotify.max_user_instances and fs.inotify.max_user_watches (sysctl), or end the program that uses them up: " + watchers,
		})
	}
	return out
}

// troubled is what keepalived's parent cannot do, by its own word.
func troubled(d *Daemon) []Finding {
	if len(d.Troubles) == 0 {
		return nil
	}
	return []Finding{{
		Looked: "keepalived's parent",
		Seen:   "it cannot " + strings.Join(d.Troubles, "; it cannot "),
		Do:     "it tries again and again, and holds the VIPs meanwhile: see what `limits` says, and its log",
	}}
}
