package artifact

import (
	"context"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
)

// Refused reports that another attempt would get the same answer.
func (refused) Refused() bool { return true }

// Size asks for a file, as Fetch does, and ends the transfer at its first answer. It is 0 if the
// server does not report it. An error with Refused is final.
func (s *Store) Size(ctx context.Context, a artifact.Artifact) (int64, error) {
	from := s.open(ctx, a, 0)
	defer from.Close()
	return from.Total()
}
