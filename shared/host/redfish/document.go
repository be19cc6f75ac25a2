package redfish

import (
	"encoding/json"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
)

// The types of values in documents.
type (
	text   = wire.Text
	number = wire.Number
	link   = wire.Link
)

// collection is a list of documents. Some services send the members whole.
type collection struct {
	Count   number                     `json:"Members@odata.count"`
	Members wire.List[json.RawMessage] `json:"Members"`
}

// The documents, as far as they are read.
type (
	rootDocument struct {
		Version        text `json:"RedfishVersion"`
		Vendor         text
		Product        text
		UUID           text
		Oem            wire.Loose[map[string]json.RawMessage]
		Systems        wire.Loose[link]
		Managers       wire.Loose[link]
		Chassis        wire.Loose[link]
		AccountService wire.Loose[link]
		SessionService wire.Loose[link]
		Tasks          wire.Loose[link]
	}
	systemDocument struct {
		UUID          text
		SerialNumber  text
		Manufacturer  text
		Model         text
		PowerState    text
		Boot          wire.Loose[bootDocument]
		MemorySummary wire.Loose[struct{ TotalSystemMemoryGiB number }]
		Processors    wire.Loose[struct{ Count number }] `json:"ProcessorSummary"`
		SecureBoot    wire.Loose[link]
		Ethernet      wire.Loose[link] `json:"EthernetInterfaces"`
		Storage       wire.Loose[link]
		SimpleStorage wire.Loose[link]
		VirtualMedia  wire.Loose[link]
		Links         wire.Loose[struct{ ManagedBy, Chassis wire.List[link] }]
	}
	bootDocument struct {
		Mode    text            `json:"BootSourceOverrideMode"`
		Modes   wire.List[text] `json:"BootSourceOverrideMode@Redfish.AllowableValues"`
		Enabled text            `json:"BootSourceOverrideEnabled"`
		Target  text            `json:"BootSourceOverrideTarget"`
		Targets wire.List[text] `json:"BootSourceOverrideTarget@Redfish.AllowableValues"`
	}
	portDocument struct {
		ID         text `json:"Id"`
		MAC        text `json:"MACAddress"`
		Permanent  text `json:"PermanentMACAddress"`
		LinkStatus text
		Ethernet   wire.Loose[struct{ MACAddress, PermanentMACAddress text }]
	}
	managerDocument struct {
		Model           text
		FirmwareVersion text
		DateTime        text
		VirtualMedia    wire.Loose[link]
	}
	mediaDocument struct {
		MediaTypes wire.List[text]
		Image      text
		Inserted   wire.Loose[bool]
		Actions    wire.Loose[struct {
			Insert *link `json:"#VirtualMedia.InsertMedia"`
		}]
	}
	storageDocument struct {
		Drives  wire.List[link]
		Volumes wire.Loose[link]
		Devices wire.List[driveDocument] // of SimpleStorage
	}
	driveDocument struct {
		Self         wire.Path `json:"@odata.id"`
		Name         text
		Model        text
		Manufacturer text
		SerialNumber text
		Bytes        number `json:"CapacityBytes"`
		MediaType    text
		Protocol     text
		Type         text `json:"VolumeType"`
		RAID         text `json:"RAIDType"`
		Identifiers  wire.List[struct{ DurableName, DurableNameFormat text }]
		Links        wire.Loose[struct{ Drives wire.List[link] }]
	}
)
