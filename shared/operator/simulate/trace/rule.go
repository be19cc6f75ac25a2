package trace

import (
	"fmt"
	"time"
)

// Rule is what must hold in every run.
type Rule string

// The rules. OneTaker and NoNeed are for a policy with ranks and a holder bonus.
const (
	OneHolder  Rule = "never two holders for longer than an advert and the skew once packets flow"
	SomeHolder Rule = "never no holder for longer than the slowest backup waits while one lives"
	NoRemnant  Rule = "no VIP stays on a host whose keepalived is dead for longer than its restart"
	Gate       Rule = "no node holds the VIP before it has seen the API work"
	Stays      Rule = "the VIP does not leave a bootstrap machine that serves"
	OneTaker   Rule = "no two nodes take the VIP at once"
	NoNeed     Rule = "the VIP does not leave a node that is as healthy as the next"
	Neighbours Rule = "the network knows where the VIP is after the second announcement"
)

// Broken is a rule that was broken.
type Broken struct {
	At   time.Duration
	Rule Rule
	Why  string
}

func (b Broken) String() string { return fmt.Sprintf("%v: %s: %s", b.At, b.Rule, b.Why) }
