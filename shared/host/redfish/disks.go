package redfish

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// readDisks reads the disks that the system sees: drives, and volumes in place of their drives.
func (r *reader) readDisks(ctx context.Context, system systemDocument) {
	s := r.facts.System
	if system.Storage.V.Path != "" {
		s.DisksSeen = true
		whole := r.members(ctx, system.Storage.V, func(_ link, raw json.RawMessage) bool {
			var storage storageDocument
			if json.Unmarshal(raw, &storage) != nil || !r.addDrives(ctx, storage) {
				s.DisksSeen = false
			}
			return true
		})
		s.DisksSeen = s.DisksSeen && whole
	}
	if len(s.Disks) > 0 || system.SimpleStorage.V.Path == "" {
		return
	}
	s.DisksSeen = r.members(ctx, system.SimpleStorage.V, func(_ link, raw json.RawMessage) bool {
		var storage storageDocument
		if json.Unmarshal(raw, &storage) == nil {
			for _, device := range storage.Devices[:min(len(storage.Devices), wire.MaxMembers)] {
				s.Disks = append(s.Disks, device.disk())
			}
		}
		return true
	})
}

// addDrives adds the disks of one controller, and reports whether it could read all.
func (r *reader) addDrives(ctx context.Context, storage storageDocument) bool {
	s, hidden, whole := r.facts.System, map[wire.Path]bool{}, true
	if storage.Volumes.V.Path != "" && len(storage.Drives) > 0 {
		whole = r.members(ctx, storage.Volumes.V, func(_ link, raw json.RawMessage) bool {
			var volume driveDocument
			if json.Unmarshal(raw, &volume) != nil || volume.Type == "RawDevice" ||
				volume.RAID == "" || volume.RAID == "None" {
				return true
			}
			for _, drive := range volume.Links.V.Drives {
				hidden[drive.Path] = true
			}
			disk := volume.disk()
			disk.Volume = true
			s.Disks = append(s.Disks, disk)
			return true
		})
	}
	for i, at := range storage.Drives {
		var drive driveDocument
		switch {
		case hidden[at.Path]:
		case i >= wire.MaxMembers || !r.fetch(ctx, at, &drive):
			whole = false
		case drive.Bytes > 0:
			s.Disks = append(s.Disks, drive.disk())
		}
	}
	return whole
}

func (d driveDocument) disk() rootdisk.Disk {
	disk := rootdisk.Disk{
		Name: string(d.Name), Model: string(d.Model), Vendor: string(d.Manufacturer),
		Serial: string(d.SerialNumber), Bytes: int64(d.Bytes), Removable: d.Protocol == "USB",
	}
	for _, id := range d.Identifiers {
		switch id.DurableNameFormat {
		case "NAA", "EUI", "NGUID":
			disk.WWN = string(id.DurableName)
		}
	}
	spins := d.MediaType == "HDD"
	if spins || d.MediaType == "SSD" {
		disk.Rotational = &spins
	}
	return disk
}

// hide takes the credentials out of all texts: a BMC may repeat a request in its answer.
func hide(facts *Facts, o wire.Options) {
	const shortest = 4 // a shorter one is a part of many words
	var secrets []string
	if password := o.Secret(); len(password) >= shortest {
		secrets = []string{password, o.Basic()}
	}
	hideIn(reflect.ValueOf(facts).Elem(), func(text string) string {
		for _, secret := range secrets {
			text = strings.ReplaceAll(text, secret, "(hidden)")
		}
		return text
	})
}

func hideIn(v reflect.Value, clean func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(clean(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			hideIn(v.Elem(), clean)
		}
	case reflect.Slice:
		for i := range v.Len() {
			hideIn(v.Index(i), clean)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			hideIn(v.Field(i), clean)
		}
	}
}
