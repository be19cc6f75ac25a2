package drift

import (
	"path"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// left are the rules of files that stay on a host: applying the plan does not remove them, and
// their programs run on. The level is that of removing them. The first match counts.
var left = []rule{
	{pods + "keepalived.yaml", Moves,
		"kubelet goes on running it, so this host takes part in the VIPs' elections: remove it " +
			"by hand, and a VIP that it holds goes to another host first, ", ""},
	{pods + "haproxy.yaml", MayMove,
		"kubelet goes on running it: remove it by hand, and the pod ends: connections through " +
			"it are cut, and where this host holds the API's VIP that may move", ""},
	{pods + "speaker.yaml", MayMove,
		"kubelet goes on running it, so this host announces VIPs that its monitor has it " +
			"announce: remove it by hand, and the host leads its routers to other hosts first; " +
			"connections to it break once", ""},
	{pods + "*", Restart,
		"kubelet goes on running it: remove it by hand, and the pod ends", ""},
	{asset.UnitDir + "/onprem-keepalived.service", Moves,
		"its service runs on: systemctl disable --now it and remove the file, and a VIP that " +
			"this host holds is released in order, ", ""},
	{asset.UnitDir + "/onprem-speaker.service", MayMove,
		"its service runs on: systemctl disable --now it and remove the file, and this host " +
			"leads its routers to other hosts first", ""},
	{asset.UnitDir + "/onprem-vip-leave.service", Moves,
		"it runs on: systemctl disable --now it and remove the file, and a VIP that this host " +
			"holds is released in order, ", ""},
	{asset.UnitDir + "/*.*", Restart,
		"what it starts runs on, and starts again at a boot: systemctl disable --now it and " +
			"remove the file", ""},
	{"/etc/kubernetes/disabled-manifests/*", Nothing,
		"nothing reads it: remove it by hand", ""},
	{"/etc/kubernetes/static-pod-resources/*/*/*", Nothing,
		"nothing of ours reads it: remove it by hand", ""},
}

// remains is the effect of a file that the plan does not have.
func (w Wanted) remains(p string) Effect {
	for _, r := range left {
		if ok, _ := path.Match(r.pattern, p); !ok { // the patterns are good, which a test holds
			continue
		}
		e := Effect{Level: r.level, Text: r.text}
		if r.level == Moves {
			e.Text += w.within("reboot")
		}
		return e
	}
	return Effect{Level: Later, Text: "it stays, and counts on for whatever reads it: remove it " +
		"by hand"}
}
