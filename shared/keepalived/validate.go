package keepalived

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The bounds of what a configuration may hold.
const (
	longest = time.Hour // of a time
	most    = 254       // of a weight, of either sign, and of a count
)

// Validate checks that each value of a configuration is one word of its text, or a number in its
// range, so that Parse reads from that text what the configuration holds. Whether keepalived
// accepts it is for keepalived's own test. An error quotes no password.
func Validate(c Config) error {
	wrong := []error{optional("notifyFIFO", c.NotifyFIFO), optional("leave", c.Leave)}
	for _, k := range c.Checks {
		wrong = append(wrong, checkName(k.Name), path("command", k.Command),
			whole("interval", k.Interval), duration("timeout", k.Timeout),
			number("rise", k.Rise), number("fall", k.Fall), number("weight", k.Weight))
	}
	for _, t := range c.Tracks {
		wrong = append(wrong, trackName(t.Name), path("file", t.File), number("weight", t.Weight))
	}
	member := map[vrrp.InstanceName]bool{}
	for _, g := range c.Groups {
		wrong = append(wrong, word("sync group", g.Name), all(g.Tracks, trackName))
		for _, name := range g.Members {
			wrong = append(wrong, word("member", name))
			member[name] = true
		}
	}
	for _, i := range c.Instances {
		err := i.validate()
		if i.Grouped && !member[i.Name] {
			err = errors.Join(err, errors.New("it is in no sync group"))
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("instance %q: %w", i.Name, err))
		}
	}
	return errors.Join(wrong...)
}

func (i Instance) validate() error {
	_, link := ParseInterface(string(i.Interface))
	wrong := []error{word("instance", i.Name), link, duration("advert", i.Advert),
		all(i.Tracks, trackName), all(i.Checks, checkName)}
	if i.Refresh != 0 {
		wrong = append(wrong, whole("refresh", i.Refresh))
	}
	if i.ID == 0 {
		wrong = append(wrong, errors.New("virtual router ID 0 is none"))
	}
	if i.Version != vrrp.V2 && i.Version != vrrp.V3 {
		wrong = append(wrong, fmt.Errorf("VRRP version %d is neither 2 nor 3", i.Version))
	}
	if i.Priority < vrrp.MinPriority || i.Priority > vrrp.MaxPriority {
		wrong = append(wrong, fmt.Errorf("priority %d is none", i.Priority))
	}
	if !i.VIP.IsValid() {
		wrong = append(wrong, errors.New("it has no VIP"))
	}
	wrong = append(wrong, i.device())
	for _, p := range i.Peers {
		if !p.IsValid() {
			wrong = append(wrong, errors.New("a peer has no address"))
		}
	}
	if i.AuthPass != "" && word("password", i.AuthPass) != nil {
		wrong = append(wrong, errors.New("its password has other characters than names"))
	}
	return errors.Join(wrong...)
}

// device checks where the VIP is, if that is not the instance's interface.
func (i Instance) device() error {
	if i.Device == "" {
		if i.Bits != 0 {
			return fmt.Errorf("prefix length %d without a device", i.Bits)
		}
		return nil
	}
	_, err := ParseInterface(string(i.Device))
	if i.Bits < 1 || i.Bits > i.VIP.BitLen() {
		err = errors.Join(err, fmt.Errorf("prefix length %d is none of %s", i.Bits, i.VIP))
	}
	return err
}

func word[T ~string](what string, name T) error {
	if name == "" || strings.Trim(string(name), plain) != "" {
		return fmt.Errorf("%s %q: a name has letters, digits, dots, hyphens and underscores",
			what, name)
	}
	return nil
}

func checkName(name vrrp.CheckName) error { return word("check", name) }

func trackName(name vrrp.CheckName) error {
	if name == leaveTrack {
		return fmt.Errorf("track %q: this name is reserved", name)
	}
	return word("track", name)
}

func path(what string, p Path) error {
	if !strings.HasPrefix(string(p), "/") || strings.Trim(string(p), plain+"/,:+") != "" {
		return fmt.Errorf("%s %q: a path is absolute, and has no blanks and signs of keepalived's",
			what, p)
	}
	return nil
}

func optional(what string, p Path) error {
	if p == "" {
		return nil
	}
	return path(what, p)
}

func duration(what string, d time.Duration) error {
	if d <= 0 || d > longest {
		return fmt.Errorf("%s %s is not above 0 and at most %s", what, d, longest)
	}
	return nil
}

func whole(what string, d time.Duration) error {
	if d%time.Second != 0 {
		return fmt.Errorf("%s %s is not in whole seconds", what, d)
	}
	return duration(what, d)
}

func number(what string, n int) error {
	if n < -most || n > most {
		return fmt.Errorf("%s %d is not %d to %d", what, n, -most, most)
	}
	return nil
}

func all[T any](list []T, check func(T) error) error {
	var wrong []error
	for _, one := range list {
		wrong = append(wrong, check(one))
	}
	return errors.Join(wrong...)
}
