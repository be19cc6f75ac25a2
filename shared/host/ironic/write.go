package ironic

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// targets are the verbs that are a change of the provision state and nothing else.
var targets = map[node.Verb]nodes.TargetProvisionState{
	node.Manage: nodes.TargetManage, node.Inspect: nodes.TargetInspect,
	node.Provide: nodes.TargetProvide, node.Undeploy: nodes.TargetDeleted,
}

// Do makes one request. It returns when Ironic has taken it.
func (a *API) Do(ctx context.Context, r node.Request) error {
	err := a.with(ctx, slow, func(ctx context.Context, c *gophercloud.ServiceClient) error {
		return do(ctx, c, r)
	})
	if err != nil {
		return fmt.Errorf("ask Ironic to %s: %w", r.Verb, err)
	}
	return nil
}

func do(ctx context.Context, c *gophercloud.ServiceClient, r node.Request) error {
	change := func(o nodes.ProvisionStateOpts) error {
		return nodes.ChangeProvisionState(ctx, c, r.UUID, o).ExtractErr()
	}
	switch r.Verb {
	case node.Create:
		return create(ctx, c, r)
	case node.Port:
		return port(ctx, c, r.UUID, r)
	case node.Update:
		return update(ctx, c, r.UUID, specPatches(r.Spec))
	case node.Pin:
		return update(ctx, c, r.UUID, nodes.UpdateOpts{add("/properties/root_device", r.Disk)})
	case node.Deploy:
		if err := update(ctx, c, r.UUID, imagePatches(r.Image)); err != nil {
			return err
		}
		return change(nodes.ProvisionStateOpts{Target: nodes.TargetActive,
			ConfigDrive: nodes.ConfigDrive{UserData: r.Drive.UserData.Reveal(),
				MetaData: map[string]any{"uuid": r.UUID, "name": r.Drive.Name,
					"local-hostname": r.Drive.Name}}})
	case node.Adopt:
		if err := update(ctx, c, r.UUID, imagePatches(r.Image)); err != nil {
			return err
		}
		return change(nodes.ProvisionStateOpts{Target: nodes.TargetAdopt})
	case node.Clear:
		return nodes.UnsetMaintenance(ctx, c, r.UUID).ExtractErr()
	case node.Hold:
		return nodes.SetMaintenance(ctx, c, r.UUID,
			nodes.MaintenanceOpts{Reason: node.HoldReason}).ExtractErr()
	case node.BootNet:
		return boot(ctx, c, r, nodes.BootDeviceOpts{BootDevice: r.Device})
	case node.BootDisk:
		return boot(ctx, c, r, nodes.BootDeviceOpts{BootDevice: "disk", Persistent: true})
	}
	target, ok := targets[r.Verb]
	if !ok {
		return fmt.Errorf("there is no verb %q", r.Verb)
	}
	return change(nodes.ProvisionStateOpts{Target: target})
}

// create makes a node and its port. A node whose port could not be made stays, and gets it later.
func create(ctx context.Context, c *gophercloud.ServiceClient, r node.Request) error {
	s, off := r.Spec, false
	of := func(name string) string { return s.Interfaces[name+"_interface"] }
	properties := map[string]any{}
	for key, value := range s.Properties {
		properties[key] = value
	}
	made, err := nodes.Create(ctx, c, nodes.CreateOpts{Name: s.Name, Driver: s.Driver,
		DriverInfo: revealed(s.Info), Properties: properties, AutomatedClean: &off,
		BIOSInterface: of("bios"), BootInterface: of("boot"), DeployInterface: of("deploy"),
		FirmwareInterface: of("firmware"), InspectInterface: of("inspect"),
		ManagementInterface: of("management"), NetworkInterface: of("network"),
		PowerInterface: of("power"), RAIDInterface: of("raid"), VendorInterface: of("vendor"),
	}).Extract()
	if err != nil {
		return err
	}
	return port(ctx, c, made.UUID, r)
}

func port(ctx context.Context, c *gophercloud.ServiceClient, uuid string, r node.Request) error {
	on := true
	_, err := ports.Create(ctx, c, ports.CreateOpts{NodeUUID: uuid, Address: r.MAC.String(),
		PXEEnabled: &on}).Extract()
	return err
}

// boot sets where the host boots from next, and starts it. Ironic asks the BMC before it switches a
// power on, and does nothing if it is on (node_power_action in ironic/conductor/utils.py).
func boot(
	ctx context.Context, c *gophercloud.ServiceClient, r node.Request, o nodes.BootDeviceOpts,
) error {
	if err := nodes.SetBootDevice(ctx, c, r.UUID, o).ExtractErr(); err != nil {
		return err
	}
	target := nodes.Rebooting
	if r.Gently {
		target = nodes.PowerOn
	}
	return nodes.ChangePowerState(ctx, c, r.UUID,
		nodes.PowerStateOpts{Target: target}).ExtractErr()
}

func update(
	ctx context.Context, c *gophercloud.ServiceClient, uuid string, all nodes.UpdateOpts,
) error {
	return nodes.Update(ctx, c, uuid, all).Err
}

// add sets a value, whether there is one or not.
func add(path string, value any) nodes.UpdateOperation {
	return nodes.UpdateOperation{Op: nodes.AddOp, Path: path, Value: value}
}

// specPatches set what a node was made with, but for its interfaces: those follow from a
// description that does not change.
func specPatches(s node.Spec) (all nodes.UpdateOpts) {
	info := revealed(s.Info)
	for _, key := range slices.Sorted(maps.Keys(info)) {
		all = append(all, add("/driver_info/"+key, info[key]))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, add("/properties/"+key, s.Properties[key]))
	}
	return all
}

func imagePatches(i node.Image) nodes.UpdateOpts {
	return nodes.UpdateOpts{add("/instance_info/image_source", i.URL),
		add("/instance_info/image_os_hash_algo", "sha256"),
		add("/instance_info/image_os_hash_value", i.SHA256),
		add("/instance_info/image_disk_format", i.Format),
		add("/instance_info/image_type", "whole-disk")}
}

// revealed is driver_info with the texts of its secrets, for the request to Ironic alone.
func revealed(info map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range info {
		if s, ok := value.(secret.Text); ok {
			value = s.Reveal()
		}
		out[key] = value
	}
	return out
}
