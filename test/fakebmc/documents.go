package fakebmc

import (
	"fmt"
	"strconv"
	"time"
)

// Paths of the service.
const (
	rootPath     = "/redfish/v1"
	sessionsPath = "/redfish/v1/SessionService/Sessions"
	accountsPath = "/redfish/v1/AccountService/Accounts"
	tasksPath    = "/redfish/v1/TaskService/Tasks"
	insertAction = "/Actions/VirtualMedia.InsertMedia"
	ejectAction  = "/Actions/VirtualMedia.EjectMedia"
)

var resetTypes = []string{
	"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "ForceOn",
	"PowerCycle",
}

var bootSources = []string{"None", "Pxe", "Cd", "Hdd", "UefiHttp", "BiosSetup"}

// documents are all that the service has. The lock is held.
func (b *BMC) documents(q Quirks) map[string]object {
	all := map[string]object{"/redfish": {"v1": rootPath + "/"}}
	var systems, managers, chassis []string
	for _, m := range b.machines {
		systems = append(systems, rootPath+"/Systems/"+m.ID)
		managers = append(managers, rootPath+"/Managers/"+m.ID)
		chassis = append(chassis, rootPath+"/Chassis/"+m.ID)
		addSystem(all, m, q)
		addManager(all, m, q)
		addChassis(all, m, q)
	}
	root := resource(rootPath, "ServiceRoot.v1_5_0.ServiceRoot", "Root")
	root["@odata.id"], root["Id"], root["RedfishVersion"] = rootPath+"/", "RootService", "1.6.0"
	root["UUID"] = "92384634-2938-2342-8820-489239905423"
	root["Vendor"], root["Product"] = b.options.Vendor, b.options.Product
	root["Links"] = object{"Sessions": ref(sessionsPath)}
	for _, name := range []string{"Systems", "Managers", "Chassis", "AccountService"} {
		root[name] = ref(rootPath + "/" + name)
	}
	root["SessionService"] = ref(rootPath + "/SessionService")
	root["Tasks"] = ref(rootPath + "/TaskService")
	all[rootPath] = root
	all[rootPath+"/odata"] = object{"@odata.context": rootPath + "/$metadata", "value": []object{
		{"name": "Systems", "kind": "Singleton", "url": rootPath + "/Systems"},
	}}
	all[rootPath+"/Systems"] = collection(rootPath+"/Systems", "ComputerSystem", systems...)
	all[rootPath+"/Managers"] = collection(rootPath+"/Managers", "Manager", managers...)
	all[rootPath+"/Chassis"] = collection(rootPath+"/Chassis", "Chassis", chassis...)
	if q.LoopMembers {
		loop := make([]string, 5000)
		for i := range loop {
			loop[i] = rootPath + "/Systems/" + strconv.Itoa(i) + "/Loop"
		}
		p, members := rootPath+"/Systems", append(systems, loop...)
		all[p] = collection(p, "ComputerSystem", members...)
	}
	b.addServices(all, q)
	return all
}

// addServices adds sessions, accounts and tasks.
func (b *BMC) addServices(all map[string]object, q Quirks) {
	p := rootPath + "/SessionService"
	all[p] = resource(p, "SessionService.v1_1_6.SessionService", "Sessions")
	all[p]["ServiceEnabled"], all[p]["SessionTimeout"] = true, 1800
	all[p]["Sessions"] = ref(sessionsPath)
	var open []string
	for token := range b.sessions {
		open = append(open, sessionsPath+"/"+token)
	}
	for i := range q.OtherSessions {
		open = append(open, fmt.Sprintf("%s/other%d", sessionsPath, i))
	}
	for _, p := range open {
		all[p] = resource(p, "Session.v1_2_1.Session", "Session")
	}
	all[sessionsPath] = collection(sessionsPath, "Session", open...)

	p = rootPath + "/AccountService"
	all[p] = resource(p, "AccountService.v1_7_0.AccountService", "Accounts")
	all[p]["AccountLockoutThreshold"], all[p]["Accounts"] = 5, ref(accountsPath)
	role := q.Role
	if role == "" {
		role = "Administrator"
	}
	members := []string{accountsPath + "/1", accountsPath + "/2"}
	all[accountsPath] = collection(accountsPath, "ManagerAccount", members...)
	for id, user := range map[string]string{"1": "factory", "2": b.options.User} {
		p := accountsPath + "/" + id
		all[p] = resource(p, "ManagerAccount.v1_6_0.ManagerAccount", "Account")
		all[p]["UserName"], all[p]["RoleId"] = user, role
		all[p]["Locked"], all[p]["Enabled"] = false, true
	}

	p = rootPath + "/TaskService"
	all[p] = resource(p, "TaskService.v1_1_4.TaskService", "Tasks")
	all[p]["Tasks"] = ref(tasksPath)
	var tasks []string
	for i := range q.Tasks {
		task := fmt.Sprintf("%s/%d", tasksPath, i+1)
		tasks = append(tasks, task)
		all[task] = resource(task, "Task.v1_4_3.Task", "Task")
		all[task]["TaskState"] = "Running"
	}
	all[tasksPath] = collection(tasksPath, "Task", tasks...)
}

func addManager(all map[string]object, m *machine, q Quirks) {
	p := rootPath + "/Managers/" + m.ID
	manager := resource(p, "Manager.v1_5_0.Manager", "BMC")
	manager["ManagerType"], manager["FirmwareVersion"], manager["Model"] = "BMC", "1.0", "FAKE"
	now := time.Now().Add(q.ClockAhead).UTC()
	manager["UUID"], manager["DateTime"] = m.UUID, now.Format(time.RFC3339)
	manager["VirtualMedia"] = ref(p + "/VirtualMedia")
	manager["Links"] = object{"ManagerForServers": refs(rootPath + "/Systems/" + m.ID),
		"ManagerForChassis": refs(rootPath + "/Chassis/" + m.ID)}
	all[p] = manager
	p += "/VirtualMedia"
	all[p] = collection(p, "VirtualMedia", p+"/Cd", p+"/Usb")
	for slot, types := range map[string][]string{"Cd": {"CD", "DVD"}, "Usb": {"USBStick"}} {
		p, image := p+"/"+slot, m.slots[slot]
		media := resource(p, "VirtualMedia.v1_2_0.VirtualMedia", "Virtual "+slot)
		media["MediaTypes"], media["Inserted"], media["WriteProtected"] = types, image != "", true
		media["Image"], media["ImageName"], media["ConnectedVia"] = nil, nil, "NotConnected"
		if image != "" {
			media["Image"], media["ImageName"], media["ConnectedVia"] = image, slot+".iso", "URI"
		}
		if !q.NoInsert {
			media["Actions"] = object{
				"#VirtualMedia.InsertMedia": object{"target": p + insertAction},
				"#VirtualMedia.EjectMedia":  object{"target": p + ejectAction},
			}
		}
		all[p] = media
	}
}

func addChassis(all map[string]object, m *machine, q Quirks) {
	p := rootPath + "/Chassis/" + m.ID
	chassis := resource(p, "Chassis.v1_8_0.Chassis", "Chassis")
	chassis["ChassisType"] = "RackMount"
	chassis["Links"] = object{"ComputerSystems": refs(rootPath + "/Systems/" + m.ID),
		"ManagedBy": refs(rootPath + "/Managers/" + m.ID)}
	all[p] = chassis
	if !q.Adapters {
		return
	}
	chassis["NetworkAdapters"] = ref(p + "/NetworkAdapters")
	adapter := p + "/NetworkAdapters/1"
	all[p+"/NetworkAdapters"] = collection(p+"/NetworkAdapters", "NetworkAdapter", adapter)
	all[adapter] = resource(adapter, "NetworkAdapter.v1_2_0.NetworkAdapter", "Adapter")
	all[adapter]["NetworkDeviceFunctions"] = ref(adapter + "/NetworkDeviceFunctions")
	var members []string
	for i, port := range m.Ports {
		p := fmt.Sprintf("%s/NetworkDeviceFunctions/%d", adapter, i+1)
		members = append(members, p)
		all[p] = resource(p, "NetworkDeviceFunction.v1_3_0.NetworkDeviceFunction", "Function")
		all[p]["Ethernet"] = object{"MACAddress": port.MAC, "PermanentMACAddress": port.MAC}
	}
	p = adapter + "/NetworkDeviceFunctions"
	all[p] = collection(p, "NetworkDeviceFunction", members...)
}
