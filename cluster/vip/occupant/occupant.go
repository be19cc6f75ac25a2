// Package occupant watches whether a machine outside of the cluster's nodes answers for their
// provisioning address.
//
// The bootstrap machine does while it installs the control plane, whose nodes come up one after the
// other meanwhile, and have no adverts of it: it holds the address by itself, whatever becomes of
// its keepalived. So no node is a candidate while a machine answers that is none of the control
// plane's hosts. The bootstrap machine, for its part, does not take an address for which a node
// answers.
package occupant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
)

const (
	// Interval is the time between two questions. Each is one packet to all hosts of the network.
	Interval = 5 * time.Second
	// first is how many unanswered questions in a row make the address count as free, and after
	// is that number once a machine has answered: that one may be paused, or reboot.
	first, after = 2, 12
)

// Network is the node's provisioning network.
type Network interface {
	// Card names the node's link there.
	Card() (link string, err error)
	// WhoHas are the MACs of all other hosts of a link that answer for an address. It takes a
	// second.
	WhoHas(link string, address netip.Addr) ([]string, error)
}

// Finding is what is known. The zero value is nothing yet.
type Finding struct {
	Known bool   // whether the address is free: it was asked for often enough
	Other string // the MAC of a machine that has the address, or had it a moment ago

	silent int // questions in a row without an answer
}

// Next is the finding after one more question: other is the MAC of the machine that answered, empty
// for none, and failed means that the question could not be asked.
func (f Finding) Next(other string, failed bool) Finding {
	switch {
	case failed:
		f.silent = 0
		return f
	case other != "":
		return Finding{Known: true, Other: other}
	}
	f.silent++
	if enough := map[bool]int{true: first, false: after}[f.Other == ""]; f.silent >= enough {
		f.Known, f.Other = true, ""
	}
	return f
}

// Bars is why a node is no candidate, nil if it may be one. waits is whether its router waits for
// the adverts of a holder, and runs whether it has one. Another machine that has the address keeps
// it, and a node that holds it too releases it: a bootstrap machine that was away may return
// when half of the control plane is up. The machine may be a node that the description does not
// list: so a node that receives a holder's adverts stays a candidate.
func (f Finding) Bars(waits, runs bool) error {
	switch {
	case waits || runs && f.Other == "":
		return nil
	case f.Other != "":
		return fmt.Errorf("the machine %s has it, which is no host of the cluster: the "+
			"bootstrap machine, until it has installed the control plane", f.Other)
	case !f.Known:
		return errors.New("it is not known yet whether another machine has it")
	}
	return nil
}

// Outsider is which of the MACs that answer for the address is none of the control plane's hosts;
// empty for none.
func Outsider(all []string, hosts []mac.MAC) (other string) {
	for _, text := range all {
		if m, err := mac.Parse(text); err != nil || !slices.Contains(hosts, m) {
			other = text
		}
	}
	return other
}

// Options are what a Watch needs. Without an address it asks nothing.
type Options struct {
	Address netip.Addr
	Hosts   []mac.MAC // the cards of the control plane's hosts on that network
	Network Network
	Wake    chan<- struct{} // asks for a round when the finding changes
	Log     *slog.Logger
}

// Watch asks for as long as it runs. Its methods may be called by several goroutines.
type Watch struct {
	options Options

	mu      sync.Mutex
	finding Finding
}

// New makes a Watch that has asked nothing yet.
func New(o Options) *Watch { return &Watch{options: o} }

// Found is the last finding.
func (w *Watch) Found() Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finding
}

// Run asks until ctx ends. A question that cannot be asked leaves the finding as it is.
func (w *Watch) Run(ctx context.Context) error {
	if !w.options.Address.IsValid() {
		<-ctx.Done()
		return nil
	}
	var logged loop.News
	for range loop.Every(ctx, Interval) {
		other, err := w.ask()
		found := w.Found().Next(other, err != nil)
		if text := fmt.Sprint(found.Known, found.Other, err); ctx.Err() == nil && logged.Is(text) {
			w.options.Log.Info("asked for the provisioning address", "address",
				w.options.Address, "other_machine", found.Other, "error", err)
		}
		w.note(found)
	}
	return nil
}

func (w *Watch) note(found Finding) {
	w.mu.Lock()
	changed := w.finding.Known != found.Known || w.finding.Other != found.Other
	w.finding = found
	w.mu.Unlock()
	if changed {
		loop.Wake(w.options.Wake)
	}
}

// ask is the MAC of a machine that has the address and is none of the hosts; empty for none.
func (w *Watch) ask() (other string, err error) {
	link, err := w.options.Network.Card()
	if err != nil {
		return "", err
	}
	all, err := w.options.Network.WhoHas(link, w.options.Address)
	if err != nil {
		return "", err
	}
	return Outsider(all, w.options.Hosts), nil
}
