package supervise

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// no is a tracked file's number for what does not hold.
const no = "0\n"

// trackLeave writes whether keepalived shall sink below every other router. The directories of tracked files must be there before keepalived
// starts: it watches them.
func (s *supervisor) trackLeave(number string) error {
	for _, dir := range []string{supervised.TrackDir, supervised.FaultDir} {
		if err := os.MkdirAll(filepath.Join(s.RunDir, dir), 0o755); err != nil {
			return fmt.Errorf("make the directory of tracked files: %w", err)
		}
	}
	_, err := file.WriteIfChanged(filepath.Join(s.RunDir, supervised.TrackDir, supervised.LeaveTrack), []byte(number), 0o644)
	return err
}
