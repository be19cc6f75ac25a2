package ignition_test

import (
	"fmt"
	"log"

	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// A set may hold what the caller adds; no path can have two owners.
func ExampleMachineConfig() {
	var set asset.Set
	if err := set.AddFile(asset.File{
		Path: "/etc/motd", Mode: 0o644, Contents: []byte("hello\n"), By: "me",
	}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.AddFile(asset.File{Path: "/etc/motd", Mode: 0o644, By: "another"}))
	object, err := ignition.MachineConfig(set, role.Worker)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(object))
	// Output:
	// /etc/motd has two owners, me and another
	// apiVersion: machineconfiguration.openshift.io/v1
	// kind: MachineConfig
	// metadata:
	//   labels:
	//     machineconfiguration.openshift.io/role: worker
	//   name: 99-worker-onprem-infra
	// spec:
	//   config:
	//     ignition:
	//       version: 3.2.0
	//     storage:
	//       files:
	//       - contents:
	//           source: data:;base64,aGVsbG8K
	//         mode: 420
	//         overwrite: true
	//         path: /etc/motd
}
