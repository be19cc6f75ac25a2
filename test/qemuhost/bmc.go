package qemuhost

import (
	"context"
	"net"
	"net/http"

	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// User and Password are the account of each BMC.
const User, Password = "admin", "bmc-p4ssw0rd"

// BMC is the FAKE Redfish BMC of a machine. Serve it on a listener of the network that BMCs are in.
func (h *Host) BMC() *fakebmc.BMC {
	o := h.options
	disk, trap := o.Serials()
	machine := fakebmc.Machine{
		ID: "1", UUID: o.UUID, Serial: o.Name, Manufacturer: "FAKE", Model: "qemu", Legacy: o.Legacy,
		MemoryGiB: o.MemoryMB >> 10, CPUs: 1, Ports: []fakebmc.Port{{MAC: o.MAC, Link: "LinkUp"}},
		Disks: []fakebmc.Disk{
			{Name: "vda", Serial: disk, Bytes: int64(o.DiskMB) << 20, Media: "SSD", Protocol: "NVMe"},
			{Name: "vdb", Serial: trap, Bytes: int64(o.TrapMB) << 20, Media: "SSD", Protocol: "NVMe"},
		},
	}
	bmc := fakebmc.New(fakebmc.Options{
		User: User, Password: Password, Vendor: "FAKE", Product: "FAKE", Machines: []fakebmc.Machine{machine},
		Power: func(_ fakebmc.Machine, c fakebmc.Change) error { return h.Power(c) },
		IsOn:  func(string) (bool, error) { return h.IsOn(), nil },
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = func() fakebmc.Change { return bmc.Restart(machine.ID) }
	return bmc
}

// Serve serves a BMC until the context ends, and returns when no request is answered any more.
func Serve(ctx context.Context, on net.Listener, bmc http.Handler) error {
	server := &http.Server{Handler: bmc}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(on); ctx.Err() == nil {
		return err
	}
	return nil
}
