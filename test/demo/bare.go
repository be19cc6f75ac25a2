package main

import (
	"context"
	"fmt"
	"os"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/provisioning"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// elsewhere shows the installation on every machine, and test/demo/announce names it too.
const elsewhere = "make bench BENCH='-run installation -hosts 1 -n 1'"

// install has a bootstrap machine install a bare one, where that takes no long time.
func (s *show) install(ctx context.Context) (saw []string, err error) {
	if why := qemuhost.KVM(); why != nil {
		return []string{"not shown here, as it would take minutes: " + why.Error(), "this shows it: " + elsewhere}, nil
	}
	took, err := provisioning.Measure(ctx, 1, os.Stderr)
	if err != nil {
		return nil, err
	}
	for _, stage := range provisioning.Stages() {
		saw = append(saw, fmt.Sprintf("%-12s %s", stage, progress.Short(took[stage])))
	}
	return saw, nil
}
