package ironic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// quick bounds an answer from Ironic's database alone.
const quick = 20 * time.Second

// with runs one exchange with Ironic.
func (a *API) with(
	ctx context.Context, limit time.Duration,
	do func(context.Context, *gophercloud.ServiceClient) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	defer c.HTTPClient.CloseIdleConnections()
	return fault(do(ctx, c))
}

// Drivers are the hardware types that Ironic has loaded.
func (a *API) Drivers(ctx context.Context) (names []string, err error) {
	err = a.with(ctx, quick, func(ctx context.Context, c *gophercloud.ServiceClient) error {
		page, err := drivers.ListDrivers(c, drivers.ListDriversOpts{}).AllPages(ctx)
		if err != nil {
			return err
		}
		all, err := drivers.ExtractDrivers(page)
		for _, d := range all {
			names = append(names, d.Name)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// Nodes are all of Ironic's, with the addresses of their ports, sorted by name.
func (a *API) Nodes(ctx context.Context) (all []node.Node, err error) {
	err = a.with(ctx, quick, func(ctx context.Context, c *gophercloud.ServiceClient) error {
		page, err := nodes.ListDetail(c, nodes.ListOpts{}).AllPages(ctx)
		if err != nil {
			return err
		}
		var read []seen
		if err := nodes.ExtractNodesInto(page, &read); err != nil {
			return err
		}
		page, err = ports.ListDetail(c, ports.ListOpts{}).AllPages(ctx)
		if err != nil {
			return err
		}
		cards, err := ports.ExtractPorts(page)
		if err != nil {
			return err
		}
		for _, n := range read {
			all = append(all, n.node(cards))
		}
		return nil
	})
	slices.SortFunc(all, func(x, y node.Node) int { return strings.Compare(x.Name, y.Name) })
	return all, err
}

// seen is a node as the API has it, as far as it is read. What it has of the BMC is not.
type seen struct {
	UUID        string      `json:"uuid"`
	Name        string      `json:"name"`
	State       node.State  `json:"provision_state"`
	Changed     stamp       `json:"provision_updated_at"`
	Error       string      `json:"last_error"`
	Maintenance bool        `json:"maintenance"`
	Reason      string      `json:"maintenance_reason"`
	Fault       string      `json:"fault"`
	Reservation string      `json:"reservation"`
	Power       node.Power  `json:"power_state"`
	Internal    internal    `json:"driver_internal_info"`
	DeployStep  namedStep   `json:"deploy_step"`
	Inspected   stamp       `json:"inspection_finished_at"`
	Properties  rootDevice  `json:"properties"`
	Instance    imageSource `json:"instance_info"`
}

type (
	internal struct {
		Steps []namedStep `json:"deploy_steps"`
		Index *int        `json:"deploy_step_index"`
		Beat  stamp       `json:"agent_last_heartbeat"`
	}
	namedStep struct {
		Step string `json:"step"`
	}
	rootDevice struct {
		Disk node.Pinned `json:"root_device"`
	}
	imageSource struct {
		Image string `json:"image_source"`
	}
)

func (s seen) node(cards []ports.Port) node.Node {
	n := node.Node{UUID: s.UUID, Name: s.Name, State: s.State, Changed: s.Changed.Time,
		Error: s.Error, Locked: s.Reservation != "", Power: s.Power, Called: s.Internal.Beat.Time,
		Inspected: s.Inspected.Time, Image: s.Instance.Image,
		Maintenance: node.Maintenance{On: s.Maintenance, Fault: s.Fault, Reason: s.Reason},
		Step:        node.Step{Index: -1, Name: s.DeployStep.Step}}
	if s.Properties.Disk != (node.Pinned{}) {
		n.Disk = s.Properties.Disk.String()
	}
	for _, step := range s.Internal.Steps {
		n.Step.Names = append(n.Step.Names, step.Step)
	}
	if s.Internal.Index != nil {
		n.Step.Index = *s.Internal.Index
	}
	for _, p := range cards {
		if m, err := mac.Parse(p.Address); err == nil && p.NodeUUID == s.UUID {
			n.MACs = append(n.MACs, m)
		}
	}
	return n
}

// stamp is a time of Ironic, which has a zone or not: it is UTC either way. None is the zero time.
type stamp struct{ time.Time }

// UnmarshalJSON returns no error for a text that is no time: s stays as it is.
func (s *stamp) UnmarshalJSON(text []byte) error {
	var value string
	if json.Unmarshal(text, &value) != nil {
		return nil
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999"} {
		if t, err := time.Parse(form, value); err == nil {
			s.Time = t.UTC()
			return nil
		}
	}
	return nil
}

// Disks are those that a node's inspection found.
func (a *API) Disks(ctx context.Context, uuid string) (disks node.Disks, err error) {
	err = a.with(ctx, quick, func(ctx context.Context, c *gophercloud.ServiceClient) error {
		var answer inventory
		if err := nodes.GetInventory(ctx, c, uuid).ExtractInto(&answer); err != nil {
			return err
		}
		disks, err = answer.disks()
		return err
	})
	return disks, err
}

// inventory is what the ramdisk found, as far as it is read.
type inventory struct {
	Inventory struct {
		Disks []struct {
			Name       string `json:"name"`
			ByPath     string `json:"by_path"`
			HCTL       string `json:"hctl"`
			Model      string `json:"model"`
			Vendor     string `json:"vendor"`
			Serial     string `json:"serial"`
			WWN        string `json:"wwn"`
			WWNWith    string `json:"wwn_with_extension"`
			WWNVendor  string `json:"wwn_vendor_extension"`
			Size       int64  `json:"size"`
			Rotational *bool  `json:"rotational"`
		} `json:"disks"`
	} `json:"inventory"`
}

// most is how many disks a host may have.
const most = 4096

func (i inventory) disks() (node.Disks, error) {
	if n := len(i.Inventory.Disks); n > most {
		return nil, fmt.Errorf("an inventory has %d disks, %d at most", n, most)
	}
	disks := node.Disks{}
	for _, d := range i.Inventory.Disks {
		disks = append(disks, rootdisk.Disk{Device: d.Name, ByPath: d.ByPath, HCTL: d.HCTL,
			Model: d.Model, Vendor: d.Vendor, Serial: d.Serial, WWN: d.WWN,
			WWNWithExtension: d.WWNWith, WWNVendorExtension: d.WWNVendor, Bytes: d.Size,
			Rotational: d.Rotational})
	}
	return disks, nil
}
