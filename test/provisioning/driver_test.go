package provisioning

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/test/ironic"
	"github.com/onprem-infra/onprem-infra/test/osimage"
)

// object is a JSON object.
type object = map[string]any

// driver takes one host through Ironic's states by its API.
type driver struct {
	*ironic.Server
	host *host
	node string // its UUID
	laps *laps
}

// call sends a request that must succeed, and returns the answer.
func (d *driver) call(t *testing.T, method, path string, in any) (out object) {
	t.Helper()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			t.Fatal(err)
		}
	}
	code, answer, err := d.Do(t.Context(), method, path, body)
	if err != nil || code >= 300 {
		t.Fatalf("%s %s: %d %v\n%s", method, path, code, err, answer)
	}
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &out); err != nil {
			t.Fatalf("%s %s: %v\n%s", method, path, err, answer)
		}
	}
	return out
}

// enroll makes the node, its port, and has Ironic log in to its BMC.
func (d *driver) enroll(t *testing.T) {
	t.Helper()
	disk, _ := d.host.Serials()
	node := d.call(t, http.MethodPost, "/v1/nodes", object{
		"name": d.host.name, "driver": d.host.driver, "driver_info": d.host.access,
		"properties": object{"cpu_arch": "x86_64", "capabilities": "boot_mode:" + d.host.mode(), "root_device": object{"serial": disk}},
	})
	d.node, _ = node["uuid"].(string)
	d.call(t, http.MethodPost, "/v1/ports", object{"address": d.host.mac, "node_uuid": d.node, "pxe_enabled": true})
	d.to(t, "manage", "manageable", nil)
}

// to asks for a state and waits for one.
func (d *driver) to(t *testing.T, target, state string, more object) {
	t.Helper()
	in := object{"target": target}
	for key, value := range more {
		in[key] = value
	}
	d.call(t, http.MethodPut, "/v1/nodes/"+d.node+"/states/provision", in)
	before := ""
	await(t.Context(), t, state, func() bool {
		node := d.call(t, http.MethodGet, "/v1/nodes/"+d.node+"?fields=provision_state,target_provision_state,last_error,power_state,clean_step,deploy_step", nil)
		now := fmt.Sprintf("%v, power %v%s%s", node["provision_state"], strings.TrimPrefix(fmt.Sprint(node["power_state"]), "power "), step(node["clean_step"]), step(node["deploy_step"]))
		if now != before {
			d.laps.lap("%s: %s", d.host.name, now)
		}
		before = now
		at, _ := node["provision_state"].(string)
		if strings.HasSuffix(at, "failed") || at == "error" {
			t.Fatalf("%s is %s on the way to %s: %v", d.host.name, at, state, node["last_error"])
		}
		// A state that is already there counts when Ironic wants no other one.
		return at == state && node["target_provision_state"] == nil
	})
}

// step is the name of a step of cleaning or deployment.
func step(of any) string {
	o, _ := of.(object)
	if name, ok := o["step"].(string); ok {
		return ", " + name
	}
	return ""
}

// inspect boots the ramdisk and compares what it found with the machine that there is.
func (d *driver) inspect(t *testing.T) {
	t.Helper()
	d.to(t, "inspect", "manageable", nil)
	found := d.call(t, http.MethodGet, "/v1/nodes/"+d.node+"/inventory", nil)
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	disk, trap := d.host.Serials()
	for _, want := range []string{disk, trap, d.host.mac, d.host.address.String()} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the inventory lacks %q: %s", want, text)
		}
	}
}

// meet waits until the agent has reported where it is reached. Ironic ends an inspection before
// that, and takes a running ramdisk for one that it can use at once: a deployment that is asked for
// too early fails with "Agent driver requires agent_url".
func (d *driver) meet(t *testing.T) {
	t.Helper()
	await(t.Context(), t, "the agent's report", func() bool {
		node := d.call(t, http.MethodGet, "/v1/nodes/"+d.node+"?fields=driver_internal_info", nil)
		internal, _ := node["driver_internal_info"].(object)
		return internal["agent_url"] != nil
	})
	d.laps.lap("%s: the agent is known", d.host.name)
}

// deploy writes the image, with a document for its first boot.
func (d *driver) deploy(t *testing.T, image osimage.Image, hostname, marker string, reports netip.AddrPort) {
	t.Helper()
	document, err := osimage.Document(hostname, marker, "http://"+reports.String()+"/")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + d.Settings.HTTP.String() + strings.TrimPrefix(layout.Images, layout.HTTP) + "/os.raw"
	d.call(t, http.MethodPatch, "/v1/nodes/"+d.node, []object{{"op": "add", "path": "/instance_info", "value": object{
		"image_source": url, "image_os_hash_algo": "sha256", "image_os_hash_value": image.SHA256,
		"image_disk_format": "raw", "image_type": "whole-disk",
	}}})
	d.to(t, "active", "active", object{"configdrive": object{
		"user_data": string(document), "network_data": object{},
		"meta_data": object{"uuid": d.node, "name": hostname, "local-hostname": hostname},
	}})
}
