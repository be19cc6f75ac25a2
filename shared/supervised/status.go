// Package supervised is what keepalived's supervisor and its monitor exchange: a candidate
// configuration one way, a status the other way, both files of one directory.
package supervised

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"
)

// RunDir is where a monitor and keepalived's supervisor meet, on the host and in their containers.
const RunDir = "/run/onprem-infra/keepalived"

// The files of the run directory that a monitor, or a person, writes.
const (
	// CandidateFile is the configuration that the monitor wants (EncodeCandidate); replaced whole.
	CandidateFile = "candidate.json"
	// CandidateText is the same as text, for a supervisor of the former release; replaced whole.
	CandidateText = "candidate.conf"
	// HeartbeatFile holds a number that the monitor changes once a second. While it does not
	// change, the monitor does not run.
	HeartbeatFile = "heartbeat"
	// LeaveFile exists while the VIPs are to be released in order and not taken over again. Its
	// creator removes it.
	LeaveFile = "leave"
	// UnservedFile names the VRRP instances, one a line, whose VIPs are not served here any more. A
	// holder releases such a VIP at once, when its instance is named for the first time.
	UnservedFile = "unserved"
	// TrackDir has tracked files whose number is a bonus: 1 adds the check's weight; any other
	// number, and a missing file, adds nothing.
	TrackDir = "track"
	// FaultDir has tracked files without a weight: anything but 1, and a missing file, is FAULT.
	FaultDir = "fault"
)

// The files of the run directory that the supervisor and its keepalived write.
const (
	// StatusFile is an encoded Status; replaced whole at every change.
	StatusFile = "status.json"
	// NotifyFIFO is keepalived's vrrp_notify_fifo.
	NotifyFIFO = "notify.fifo"
	// LeaveTrack, in TrackDir, is 1 while the supervisor releases the VIPs: it demotes every
	// instance to the lowest priority.
	LeaveTrack = "leave"
	// HolderDir has the tracked files of HolderTrack.
	HolderDir = "holder"
)

// State is the state of a VRRP instance.
type State string

// The states. Init is also that of an instance whose daemon has not yet reported, or has stopped.
const (
	Init   State = "INIT"
	Backup State = "BACKUP"
	Master State = "MASTER"
	Fault  State = "FAULT"
)

// Leaving is how far a request to leave has come.
type Leaving string

// The steps. Asked is a holder that goes on serving until another router has taken over, or for as
// long as that may take.
const (
	Stays Leaving = ""
	Asked Leaving = "asked"
	Left  Leaving = "left"
)

// Instance is what keepalived last reported of one VRRP instance.
type Instance struct {
	State    State `json:"state"`
	Priority int   `json:"priority"` // effective: base and weights
}

// Refusal is a candidate that keepalived's own test turned down, or that could not be written.
type Refusal struct {
	Candidate string `json:"candidate"` // Digest of the candidate
	// Output is what the test printed, cut to a bound and without passwords, or why the candidate
	// could not be written.
	Output string `json:"output"`
}

// Status is what the supervisor knows.
type Status struct {
	// PID is keepalived's in the supervisor's process namespace; 0 while it does not run.
	PID int `json:"pid"`
	// Applied is the Digest of the running configuration; empty before the first.
	Applied string `json:"applied"`
	// Refused is the last candidate, if it was refused.
	Refused *Refusal `json:"refused,omitempty"`
	// Instances are known by their names.
	Instances map[string]Instance `json:"instances"`
	// Restarts counts the starts of keepalived after it ended by itself.
	Restarts int     `json:"restarts"`
	Leaving  Leaving `json:"leaving"`

	// MonitorStale means that the monitor's heartbeat is stale, and that this node's bonuses have
	// been removed.
	MonitorStale bool `json:"monitorSilent"`

	// Contested are the VIPs of the running configuration, and of those before it, that another
	// router may hold. Outlives is how long they may stay if the supervisor ends without releasing
	// them.
	Contested []netip.Addr  `json:"contested,omitempty"`
	Outlives  time.Duration `json:"outlives,omitempty"`

	// Troubles are the tasks of the supervisor that fail at present, as TASK: ERROR.
	Troubles []string `json:"troubles,omitempty"`
}

// IsHolder reports whether an instance holds its VIP.
func (s Status) IsHolder() bool {
	for _, i := range s.Instances {
		if i.State == Master {
			return true
		}
	}
	return false
}

// HolderTrack is the tracked file of a VRRP instance, below the run directory. It holds 1 while the
// instance holds its VIP, which adds the holder bonus. It holds -1, which subtracts as much, while
// the instance has just begun and a holder may not have its bonus yet; a number far below, which is
// a fault, while it releases its VIP; and 0 otherwise.
func HolderTrack(instance string) string { return HolderDir + "/" + instance }

// Digest names a configuration: the SHA-256 of its bytes in lower-case hexadecimal.
func Digest(config []byte) string {
	sum := sha256.Sum256(config)
	return hex.EncodeToString(sum[:])
}

// Encode writes a Status as indented JSON with a final newline; equal statuses give equal bytes.
func Encode(s Status) []byte {
	if s.Instances == nil {
		s.Instances = map[string]Instance{}
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("supervised: a Status of strings and numbers cannot fail to marshal: " + err.Error())
	}
	return append(out, '\n')
}

// Decode reads what Encode wrote. Unknown fields are ignored: supervisor and monitor may be of
// different releases during an update.
func Decode(text []byte) (Status, error) {
	var s Status
	if err := json.Unmarshal(text, &s); err != nil {
		return Status{}, fmt.Errorf("read supervisor status: %w", err)
	}
	switch s.Leaving {
	case Stays, Asked, Left:
	default:
		return Status{}, fmt.Errorf("read supervisor status: unknown step %q of leaving", s.Leaving)
	}
	for name, i := range s.Instances {
		switch i.State {
		case Init, Backup, Master, Fault:
		default:
			return Status{}, fmt.Errorf("read supervisor status: "+
				"instance %q has the unknown state %q", name, i.State)
		}
	}
	return s, nil
}
