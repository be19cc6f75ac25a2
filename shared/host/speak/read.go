package speak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/wished"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// read reads the files. What cannot be read stays as it was; the candidate is then the zero value.
func (s *speaker) read() (candidate frr.Config, err error) {
	path := filepath.Join(s.Dir, spoken.ConfigFile)
	dead, errDead := wished.Abandoned(s.Dir) // before its wish is read
	config, errConfig := decode[spoken.Config](path)
	if wrong := config.Wrong(); errConfig == nil && len(wrong) > 0 {
		errConfig = fmt.Errorf("%s: the configuration is refused, and the one before goes on, if "+
			"there is one: %s", path, strings.Join(wrong, "; "))
	}
	wish, errWish := decode[spoken.Wish](filepath.Join(s.Dir, spoken.WishFile))
	if errWish == nil {
		s.wish.Receive(wish, time.Now())
	}
	s.wish.Miss(dead)
	errWish = errors.Join(errDead, errWish)
	if errConfig != nil {
		return candidate, errors.Join(errConfig, errWish)
	}
	passwords, errPasswords := s.passwords()
	if errPasswords == nil {
		candidate, s.links = config.With(passwords), config.Links
	}
	return candidate, errors.Join(errPasswords, errWish)
}

// consider makes the candidate the target once FRR has not refused it in a test.
func (s *speaker) consider(ctx context.Context, candidate frr.Config) error {
	errPort := s.checkPort(candidate)
	if s.bfd.taken != "" && candidate.Timing.BFD != (bgp.BFD{}) {
		candidate = without(candidate)
		errPort = errors.Join(errPort, s.bfd.trouble())
	}
	good, trouble := s.candidates.Consider(ctx, candidate)
	if good {
		s.target = candidate
		s.know(candidate.VIPs)
	}
	return errors.Join(errPort, trouble)
}

// know notes VIPs whose addresses are this program's to remove.
func (s *speaker) know(vips []netip.Addr) {
	for _, vip := range vips {
		if !slices.Contains(s.vips, vip) {
			s.vips = append(s.vips, vip)
		}
	}
}

// resume notes the VIPs of the run before, which may have been killed: the host may still have
// addresses of VIPs that are no longer the cluster's.
func (s *speaker) resume() {
	former, err := decode[spoken.Status](filepath.Join(s.Dir, spoken.StatusFile))
	if err != nil {
		return // there was none, or it was another release's
	}
	for _, v := range former.VIPs {
		s.know([]netip.Addr{v.VIP})
	}
}

// configure sets the daemons' configuration: the target, and the VIPs that are no longer the
// cluster's until they have been withdrawn in order.
func (s *speaker) configure() {
	vips := slices.DeleteFunc(slices.Clone(s.config.VIPs), func(vip netip.Addr) bool {
		phase := s.state[vip].Phase
		routed := phase == speak.Announced || phase == speak.Demoted || phase == speak.Withdrawn
		return !routed && !slices.Contains(s.target.VIPs, vip)
	})
	s.config = s.target
	if !slices.ContainsFunc(vips, func(vip netip.Addr) bool {
		return !slices.Contains(s.target.VIPs, vip)
	}) {
		return
	}
	for _, vip := range s.target.VIPs {
		if !slices.Contains(vips, vip) {
			vips = append(vips, vip)
		}
	}
	s.config.VIPs = vips
}

func (s *speaker) passwords() (map[string]secret.Text, error) {
	if s.Passwords == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.Passwords)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no router has one
	}
	if err != nil {
		return nil, err
	}
	all, err := spoken.Passwords(string(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Passwords, err)
	}
	return all, nil
}

func decode[T spoken.Config | spoken.Wish | spoken.Status](path string) (v T, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	if v, err = spoken.Decode[T](text); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}
