// Package supervised is what keepalived's parent and its monitor say to each other: a candidate
// configuration one way, a status the other way, both files of one directory.
package supervised

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// The files of the run directory.
const (
	CandidateFile = "candidate.json" // the configuration that the monitor wants (EncodeCandidate); replaced whole
	CandidateText = "candidate.conf" // the same as text, for a supervisor of the former release; replaced whole
	StatusFile    = "status.json"    // an encoded Status; replaced whole at every change
	NotifyFIFO    = "notify.fifo"    // keepalived's vrrp_notify_fifo
	HeartbeatFile = "heartbeat"      // a number that the monitor changes once a second; a standing one says that the monitor is dead
	LeaveFile     = "leave"          // while it is there the VIPs are given up in order and not taken back; whoever wants that makes and removes it
	UnservedFile  = "unserved"       // the VRRP instances, a name a line, whose VIPs are not served here any more: who holds one gives it up at once, when it is named for the first time
	TrackDir      = "track"          // tracked files whose number is a bonus: 1 adds the check's weight; everything else, no file too, adds nothing
	LeaveTrack    = "leave"          // in TrackDir, the supervisor's own: 1 while it gives the VIPs up, when it sinks every instance to the lowest priority
	HolderDir     = "holder"         // tracked files of the supervisor's own, one for each VRRP instance whose holder has a bonus: see HolderTrack
	FaultDir      = "fault"          // tracked files without a weight: everything but 1, no file too, is FAULT
)

// State is the state of a VRRP instance.
type State string

// The states. Init is also that of an instance whose daemon has not yet spoken, or has stopped.
const (
	Init   State = "INIT"
	Backup State = "BACKUP"
	Master State = "MASTER"
	Fault  State = "FAULT"
)

// Leaving says how far a request to leave has come.
type Leaving string

// The steps. Asked is a holder that goes on serving until another one has been heard, or for as
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

// Refusal is a candidate that keepalived's own test turned down, or that could not be put in force.
type Refusal struct {
	Candidate string `json:"candidate"` // Digest of the candidate
	Output    string `json:"output"`    // what the test printed, cut to a bound and without passwords, or why it could not be put in force
}

// Status is what the supervisor knows.
type Status struct {
	PID       int                 `json:"pid"`               // of keepalived, as the supervisor's process namespace counts; 0 while it does not run
	Applied   string              `json:"applied"`           // Digest of the configuration in force; empty before the first
	Refused   *Refusal            `json:"refused,omitempty"` // the last candidate, when it was refused
	Instances map[string]Instance `json:"instances"`         // by instance name
	Restarts  int                 `json:"restarts"`          // how often keepalived was started again after it ended by itself
	Leaving   Leaving             `json:"leaving"`

	MonitorSilent bool `json:"monitorSilent"` // its heartbeat has stood still, and this node's bonuses have been taken away

	Troubles []string `json:"troubles,omitempty"` // what the supervisor cannot do at present, as TASK: ERROR
}

// HolderTrack is the tracked file of a VRRP instance, below the run directory: 1 while it holds its
// VIP, which adds the holder's bonus; -1, which takes as much away, while it has just begun and a
// holder may not have its bonus yet; far below, which is a fault, while it gives its VIP up; and 0
// otherwise.
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
			return Status{}, fmt.Errorf("read supervisor status: instance %q has the unknown state %q", name, i.State)
		}
	}
	return s, nil
}
