package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// give gives up what is held here and not served any more. Who waits may do no better, and nobody
// else may live: so it is done once for each time that the monitor comes to say so, and a VIP that
// comes back here stays, as it must be somewhere.
func (s *supervisor) give() error {
	text, err := os.ReadFile(filepath.Join(s.RunDir, supervised.UnservedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read what is not served: %w", err)
	}
	named := map[string]bool{}
	for name := range strings.FieldsSeq(string(text)) {
		named[name] = true
		stance := s.stances[name]
		if s.unserved[name] || !s.order.bonus[name] || !stance.IsHolder() {
			continue
		}
		s.Log.Warn("give up", "instance", name, "why", "its VIP is not served here")
		s.stances[name] = stance.Release()
	}
	s.unserved = named
	return nil
}
