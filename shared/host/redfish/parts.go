package redfish

import (
	"context"
	"encoding/json"
	"path"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
)

// readParts reads what belongs to a system, what a deployment depends on most first.
func (r *reader) readParts(ctx context.Context, root rootDocument, system systemDocument) {
	r.readManager(ctx, root, system)
	r.readPorts(ctx, system)
	var secure struct {
		Enabled *bool `json:"SecureBootEnable"`
	}
	if r.fetch(ctx, system.SecureBoot.V, &secure) {
		r.facts.System.SecureBoot = secure.Enabled
	}
	r.readSessions(ctx, root)
	r.readDisks(ctx, system)
}

// readManager reads the BMC itself. If the system links to none, the service must have only one.
func (r *reader) readManager(ctx context.Context, root rootDocument, system systemDocument) {
	var manager managerDocument
	var at link
	if by := system.Links.V.ManagedBy; len(by) > 0 {
		at = by[0]
	} else {
		r.members(ctx, root.Managers.V, func(l link, _ json.RawMessage) bool {
			several := at.Path != ""
			if at = l; several {
				at = link{} // any of them may be another machine's
			}
			return !several
		})
	}
	if !r.fetch(ctx, at, &manager) {
		return
	}
	r.facts.Manager = Manager{Path: wire.Printable(string(at.Path)), Model: string(manager.Model),
		Firmware: string(manager.FirmwareVersion)}
	now, err := time.Parse(time.RFC3339, string(manager.DateTime))
	if err == nil && !r.facts.Clock.Known {
		r.facts.Clock = Clock{Known: true, Ahead: now.Sub(r.service.Now())}
	}
	media := manager.VirtualMedia.V
	if media.Path == "" {
		media = system.VirtualMedia.V
	}
	if media.Path != "" {
		r.members(ctx, media, r.addSlot)
	}
}

func (r *reader) addSlot(at link, raw json.RawMessage) bool {
	var slot mediaDocument
	if json.Unmarshal(raw, &slot) == nil {
		r.facts.Manager.Media = append(r.facts.Manager.Media, Slot{
			Path: wire.Printable(string(at.Path)), Types: texts(slot.MediaTypes),
			Image: string(slot.Image), Inserted: slot.Inserted.V || slot.Image != "",
			Insert: slot.Actions.V.Insert != nil,
		})
	}
	return true
}

// readPorts reads the ports of network cards: from the system, else from the adapters of its
// chassis, as some BMCs have them only there.
func (r *reader) readPorts(ctx context.Context, system systemDocument) {
	add := func(at link, raw json.RawMessage) bool {
		var port portDocument
		if json.Unmarshal(raw, &port) != nil {
			return true
		}
		for _, mac := range []text{port.Permanent, port.Ethernet.V.PermanentMACAddress, port.MAC,
			port.Ethernet.V.MACAddress} {
			if mac != "" {
				name := string(port.ID)
				if name == "" {
					name = wire.Printable(path.Base(string(at.Path)))
				}
				r.facts.System.Ports = append(r.facts.System.Ports,
					Port{Name: name, MAC: string(mac), Link: string(port.LinkStatus)})
				break
			}
		}
		return true
	}
	if system.Ethernet.V.Path != "" {
		r.members(ctx, system.Ethernet.V, add)
	}
	if len(r.facts.System.Ports) > 0 || len(system.Links.V.Chassis) == 0 {
		return
	}
	var chassis struct{ NetworkAdapters wire.Loose[link] }
	if !r.fetch(ctx, system.Links.V.Chassis[0], &chassis) {
		return
	}
	r.members(ctx, chassis.NetworkAdapters.V, func(_ link, raw json.RawMessage) bool {
		var adapter struct{ NetworkDeviceFunctions wire.Loose[link] }
		if json.Unmarshal(raw, &adapter) == nil {
			r.members(ctx, adapter.NetworkDeviceFunctions.V, add)
		}
		return true
	})
}

// readSessions counts the sessions that are open.
func (r *reader) readSessions(ctx context.Context, root rootDocument) {
	var service struct{ Sessions wire.Loose[link] }
	var sessions collection
	if r.fetch(ctx, root.SessionService.V, &service) &&
		r.fetch(ctx, service.Sessions.V, &sessions) {
		r.facts.Sessions = max(len(sessions.Members), int(sessions.Count))
	}
}

// readAccount finds the role of the account that logged in.
func (r *reader) readAccount(ctx context.Context, root rootDocument) {
	var service struct{ Accounts wire.Loose[link] }
	if !r.fetch(ctx, root.AccountService.V, &service) {
		return
	}
	r.members(ctx, service.Accounts.V, func(_ link, raw json.RawMessage) bool {
		var account struct {
			UserName text
			RoleID   text `json:"RoleId"`
			Locked   wire.Loose[bool]
		}
		if json.Unmarshal(raw, &account) != nil || string(account.UserName) != r.service.Username {
			return true
		}
		r.facts.Account = Account{Role: string(account.RoleID), Locked: account.Locked.V}
		return false
	})
}

// readTasks counts the tasks that are not done: a BMC refuses changes while it works on one.
func (r *reader) readTasks(ctx context.Context, root rootDocument) {
	var service struct{ Tasks wire.Loose[link] }
	if !r.fetch(ctx, root.Tasks.V, &service) {
		return
	}
	r.members(ctx, service.Tasks.V, func(_ link, raw json.RawMessage) bool {
		var task struct{ TaskState text }
		if json.Unmarshal(raw, &task) == nil {
			switch task.TaskState {
			case "New", "Starting", "Running", "Pending", "Stopping", "Service":
				r.facts.Tasks++
			}
		}
		return true
	})
}
