package trace

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Film is the history of a host for its picture.
type Film struct {
	Host     string
	Role     role.Role
	Names    []vrrp.CheckName
	Priority []Step
	Holds    []Stretch
	Away     []Stretch
	Off      []Stretch
	Checks   [][]Stretch // by check, where it passes
	Redirect []Stretch
	API      []Stretch
}

type Step struct {
	At    time.Duration
	Value int
}

// Stretch is a time in which something was so; it is open while to is negative.
type Stretch struct{ from, to time.Duration }

// Mark records whether something is so from now on.
func Mark(s *[]Stretch, now time.Duration, is bool) {
	n := len(*s)
	switch {
	case is && (n == 0 || (*s)[n-1].to >= 0):
		*s = append(*s, Stretch{now, -1})
	case !is && n > 0 && (*s)[n-1].to < 0:
		(*s)[n-1].to = now
	}
}
