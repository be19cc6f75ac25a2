package fakebmc

import "fmt"

// addSystem adds a machine and its parts.
func addSystem(all map[string]object, m *machine, q Quirks) {
	p := rootPath + "/Systems/" + m.ID
	state, status := "Off", object{"State": "Enabled", "Health": "OK", "HealthRollup": "OK"}
	if m.On {
		state = "On"
	}
	s := resource(p, "ComputerSystem.v1_10_0.ComputerSystem", m.ID)
	s["SystemType"], s["UUID"], s["SerialNumber"] = "Physical", m.UUID, m.Serial
	s["Manufacturer"], s["Model"], s["BiosVersion"] = m.Manufacturer, m.Model, "1.0"
	s["PowerState"], s["IndicatorLED"], s["HostName"] = state, "Off", ""
	s["Boot"] = object{
		"BootSourceOverrideEnabled": m.enabled, "BootSourceOverrideTarget": m.target,
		"BootSourceOverrideMode": m.mode, "HttpBootUri": m.http,
		"BootSourceOverrideTarget@Redfish.AllowableValues": bootSources,
		"BootSourceOverrideMode@Redfish.AllowableValues":   []string{"UEFI", "Legacy"},
	}
	s["MemorySummary"] = object{"TotalSystemMemoryGiB": m.MemoryGiB, "Status": status}
	s["ProcessorSummary"] = object{"Count": m.CPUs, "CoreCount": m.CPUs, "Status": status}
	s["Actions"] = object{"#ComputerSystem.Reset": object{
		"target":                            p + "/Actions/ComputerSystem.Reset",
		"ResetType@Redfish.AllowableValues": resetTypes,
	}}
	all[p] = s
	if q.Bare {
		return
	}
	s["Links"] = object{"ManagedBy": refs(rootPath + "/Managers/" + m.ID),
		"Chassis": refs(rootPath + "/Chassis/" + m.ID)}
	for _, part := range []string{"Processors", "Memory", "Storage", "SimpleStorage"} {
		s[part] = ref(p + "/" + part)
	}
	s["SecureBoot"] = ref(p + "/SecureBoot")
	if !q.Adapters {
		s["EthernetInterfaces"] = ref(p + "/EthernetInterfaces")
		addPorts(all, p+"/EthernetInterfaces", m)
	}
	addParts(all, p, m)
	addStorage(all, p, m, q)
}

func addPorts(all map[string]object, p string, m *machine) {
	var members []string
	for i, port := range m.Ports {
		at := fmt.Sprintf("%s/%d", p, i+1)
		members = append(members, at)
		all[at] = resource(at, "EthernetInterface.v1_5_0.EthernetInterface", "Port")
		all[at]["MACAddress"], all[at]["PermanentMACAddress"] = port.MAC, port.MAC
		all[at]["SpeedMbps"] = 10000
		if port.Link != "" {
			all[at]["LinkStatus"] = port.Link
		}
	}
	all[p] = collection(p, "EthernetInterface", members...)
}

func addParts(all map[string]object, p string, m *machine) {
	arch, set := "x86", "x86-64"
	if m.Arch == "ARM" {
		arch, set = "ARM", "ARM-A64"
	}
	cpu := resource(p+"/Processors/1", "Processor.v1_4_0.Processor", "CPU")
	cpu["ProcessorType"], cpu["ProcessorArchitecture"], cpu["InstructionSet"] = "CPU", arch, set
	cpu["TotalCores"], cpu["TotalThreads"], cpu["Socket"] = m.CPUs, m.CPUs, "1"
	all[p+"/Processors/1"] = cpu
	all[p+"/Processors"] = collection(p+"/Processors", "Processor", p+"/Processors/1")
	memory := resource(p+"/Memory/1", "Memory.v1_7_0.Memory", "DIMM")
	memory["CapacityMiB"], memory["MemoryDeviceType"] = m.MemoryGiB*1024, "DDR4"
	all[p+"/Memory/1"] = memory
	all[p+"/Memory"] = collection(p+"/Memory", "Memory", p+"/Memory/1")
	current := "Disabled"
	if m.SecureBoot {
		current = "Enabled"
	}
	secure := resource(p+"/SecureBoot", "SecureBoot.v1_0_6.SecureBoot", "Secure boot")
	secure["SecureBootEnable"], secure["SecureBootCurrentBoot"] = m.SecureBoot, current
	secure["SecureBootMode"] = "UserMode"
	all[p+"/SecureBoot"] = secure
}

func addStorage(all map[string]object, p string, m *machine, q Quirks) {
	at := p + "/Storage/1"
	storage := resource(at, "Storage.v1_8_0.Storage", "Controller")
	storage["Volumes"] = ref(at + "/Volumes")
	storage["StorageControllers"] = []object{}
	var drives []string
	devices := []object{}
	for i, d := range m.Disks {
		drive := fmt.Sprintf("%s/Drives/%d", at, i+1)
		drives = append(drives, drive)
		o := resource(drive, "Drive.v1_8_0.Drive", d.Name)
		o["Model"], o["Manufacturer"], o["SerialNumber"] = d.Model, d.Vendor, d.Serial
		o["CapacityBytes"], o["MediaType"], o["Protocol"] = d.Bytes, d.Media, d.Protocol
		if d.WWN != "" {
			o["Identifiers"] = []object{{"DurableName": d.WWN, "DurableNameFormat": "NAA"}}
		}
		all[drive] = o
		devices = append(devices, object{"Name": d.Name, "Model": d.Model, "Manufacturer": d.Vendor,
			"CapacityBytes": d.Bytes, "Status": o["Status"]})
	}
	storage["Drives"], storage["Drives@odata.count"] = refs(drives...), len(drives)
	all[at] = storage
	all[p+"/Storage"] = collection(p+"/Storage", "Storage", at)
	all[at+"/Volumes"] = collection(at+"/Volumes", "Volume")
	if q.RAID && len(drives) > 1 {
		volume := resource(at+"/Volumes/1", "Volume.v1_3_1.Volume", "Mirror")
		volume["CapacityBytes"], volume["RAIDType"] = m.Disks[0].Bytes, "RAID1"
		volume["VolumeType"] = "Mirrored"
		volume["Links"] = object{"Drives": refs(drives[0], drives[1])}
		all[at+"/Volumes/1"] = volume
		all[at+"/Volumes"] = collection(at+"/Volumes", "Volume", at+"/Volumes/1")
	}
	simple := resource(p+"/SimpleStorage/1", "SimpleStorage.v1_2_0.SimpleStorage", "Controller")
	simple["Devices"] = devices
	all[p+"/SimpleStorage/1"] = simple
	all[p+"/SimpleStorage"] = collection(p+"/SimpleStorage", "SimpleStorage", p+"/SimpleStorage/1")
}
