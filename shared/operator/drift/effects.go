package drift

import (
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift/announced"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift/effect"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Level is how much the host changes when the plan's file replaces its own.
type Level = effect.Level

// The levels, the least first.
const (
	Nothing    = effect.Nothing
	Later      = effect.Later
	Reload     = effect.Reload
	Restart    = effect.Restart
	Unknown    = effect.Unknown
	MayMove    = effect.MayMove
	Moves      = effect.Moves
	TwoHolders = effect.TwoHolders
)

// Effect is one thing that happens.
type Effect = effect.Effect

// rule is the effect of a change of a file's text.
type rule struct {
	pattern string // of path.Match
	level   Level
	text    string
	missing string // if the host has no such file; empty for text
}

// onNodes are the rules of the cluster's nodes. The first match counts. The effects of cluster.json
// and of pods depend on the plan.
var onNodes = []rule{
	{pods + "coredns.yaml", Restart,
		"kubelet begins the pod anew: this node's name server is away meanwhile, and names of " +
			"the cluster are unknown on it",
		"kubelet starts the pod: this node answers for the cluster's names"},
	{pods + "mdns-publisher.yaml", Restart,
		"kubelet begins the pod anew: the node withdraws its multicast DNS announcements, and " +
			"announces itself again",
		"kubelet starts the pod: this node announces itself by multicast DNS"},
	{pods + "provisioning.yaml", Restart,
		"kubelet begins the pod anew: if this node has the provisioning address, hosts that " +
			"boot get no answer meanwhile, and a transfer that breaks off has to begin again",
		"kubelet starts the pod: this node answers hosts that boot while it has the " +
			"provisioning address"},
	{"/etc/sysctl.d/*", Later,
		"it counts from the next boot, or after sysctl --system", ""},
	{"/etc/kubernetes/disabled-manifests/*", Nothing,
		"no program reads it", ""},
	{"/etc/kubernetes/static-pod-resources/keepalived/scripts/*", Nothing,
		"nothing of ours runs it: it is for those who configure keepalived by scripts", ""},
	{asset.UnitDir + "/onprem-vip-leave.service", Later,
		"systemd knows it after systemctl daemon-reload. Do not restart it: that gives the VIPs " +
			"of this node up", ""},
	{asset.UnitDir + "/*.scope.d/*", Later,
		"it counts after systemctl daemon-reload, for containers that are started then", ""},
}

// onBootstrap are the rules of the bootstrap machine.
var onBootstrap = []rule{
	{plan.Path, Later,
		"what runs has read it at its start: restart onprem-keepalived and onprem-coredns, and " +
			"the API's VIP is released in order and comes back",
		"our units wait for it, and begin"},
	{asset.UnitDir + "/onprem-keepalived.service", Later,
		"it counts after systemctl daemon-reload and a restart, by which the API's VIP is " +
			"released in order and comes back", ""},
	{asset.UnitDir + "/onprem-speaker.service", Later,
		"it counts after systemctl daemon-reload and a restart, by which routers are led to the " +
			"nodes, and come back", ""},
	{asset.UnitDir + "/onprem-coredns.service", Later,
		"it counts after systemctl daemon-reload and a restart, by which this machine's name " +
			"server is away for some seconds", ""},
	{"/etc/systemd/resolved.conf.d/*", Later,
		"it counts when systemd-resolved is restarted", ""},
	{layout.Hosts, Later,
		"onprem-provision has read it at its start: restart that unit; hosts that are installed " +
			"stay as they are",
		"the units that provision hosts start with it, at the next boot: write it by ignition or " +
			"render"},
}

// everywhere are the rules of all hosts, after those of their own.
var everywhere = []rule{
	{spoken.PasswordsFile, Reload,
		"the speaker reads it by itself: a session whose password differs ends, and begins when " +
			"its router has the same one; the others last",
		"the speaker reads it by itself: a session that gets a password ends, and begins when " +
			"its router has the same one"},
	{asset.UnitDir + "/onprem-install.service", Later,
		"it runs at the next boot: until then the program on this host, " +
			"/usr/local/bin/onprem-infra, stays the one that is there", ""},
	{"/usr/local/bin/onprem-install", Later,
		"it runs at the next boot, by onprem-install.service", ""},
	{"/etc/NetworkManager/dispatcher.d/*", Later,
		"NetworkManager runs it when the network changes next", ""},
	{"/etc/NetworkManager/conf.d/*", Later,
		"NetworkManager reads it at the next boot, or by nmcli general reload", ""},
	{asset.UnitDir + "/*.d/*", Later,
		"systemd knows it after systemctl daemon-reload, and it counts when the unit is started " +
			"next", ""},
	{asset.UnitDir + "/*", Later,
		"systemd knows it after systemctl daemon-reload, and it counts when the unit is started " +
			"next", ""},
	{asset.PresetPath, Nothing,
		"systemd reads it at a first boot", ""},
}

// pods is the directory of kubelet's static pods.
const pods = "/etc/kubernetes/manifests/"

// effects are the effects of giving the host the plan's file. startable means that the plan's
// file can be executed, and the host's cannot.
func (w Wanted) effects(c Change, startable bool) []Effect {
	if c.Kind == Mode {
		if startable {
			return one(Later, "it cannot be run as it is")
		}
		return one(Nothing, "its readers get the same text")
	}
	node := w.Role != role.Bootstrap
	switch {
	case c.Path == plan.Path && node:
		return w.decided(c)
	case c.Path == nodeIPUnit && node && c.others:
		return []Effect{nodeIP(c)}
	case c.Path == pods+"keepalived.yaml" && node:
		return []Effect{w.keepalived(c)}
	case c.Path == pods+"speaker.yaml" && node:
		return []Effect{speaker(c)}
	case c.Path == pods+"haproxy.yaml" && node:
		return []Effect{w.haproxy(c)}
	}
	own := onBootstrap
	if node {
		own = onNodes
	}
	for _, r := range slices.Concat(own, everywhere) {
		if ok, err := path.Match(r.pattern, c.Path); err != nil || !ok {
			continue
		}
		e := Effect{Level: r.level, Text: r.text}
		if r.level == Restart && path.Dir(c.Path)+"/" == pods {
			e.Of = []string{strings.TrimSuffix(path.Base(c.Path), ".yaml")}
		}
		if c.Kind == Missing && r.missing != "" {
			e.Text = r.missing
		}
		effects := []Effect{e}
		if c.Path == plan.Path && w.There != nil {
			effects = append(effects, meanings(*w.There, w.Plan)...)
		}
		return worstFirst(effects)
	}
	return one(Unknown, "which program reads it is not known here")
}

// decided are the effects of another cluster.json on a node.
func (w Wanted) decided(c Change) []Effect {
	switch {
	case c.Kind == Missing:
		return one(Restart, "what runs on this node waits for it, and begins")
	case w.There == nil:
		return one(Unknown, "the host's file has no valid plan: whether its VRRP settings "+
			"differ from those of other nodes is not known")
	}
	again := Effect{Level: Reload, Of: w.readers(),
		Text: "the monitors begin anew: VIPs and connections stay"}
	if len(again.Of) > 0 {
		again.Text = fmt.Sprintf("the monitors begin anew, and of this node's daemons %s read "+
			"their configuration again: VIPs and connections stay", and(again.Of))
	}
	effects := append([]Effect{again}, meanings(*w.There, w.Plan)...)
	if w.otherVIPs() {
		effects = append(effects, Effect{Level: Moves, Of: []string{"keepalived"},
			Text: "keepalived ends in order and begins anew, as its parent guards the VIPs by " +
				"name: whichever VIP this node holds goes to another one first, " +
				w.within("reboot")})
	}
	return worstFirst(effects)
}

// otherVIPs reports whether a VIP comes, goes or changes.
func (w Wanted) otherVIPs() bool { return !slices.Equal(w.There.VIPs.All(), w.Plan.VIPs.All()) }

// readers are the pods of this node whose daemons read their configuration again after another
// cluster.json. HAProxy does so only for another structure.
func (w Wanted) readers() (all []string) {
	structure := func(p plan.Plan) any {
		ports := maps.Clone(p.Ports)
		maps.DeleteFunc(ports, func(name string, _ uint16) bool { return !port.Balances(name) })
		return []any{p.VIPs.API, ports, p.Timing.Model.Server}
	}
	reads := map[string]bool{
		"coredns": true, "keepalived": !w.otherVIPs(),
		"haproxy": !reflect.DeepEqual(structure(*w.There), structure(w.Plan)),
		"speaker": w.otherVIPs() || len(announced.Sessions(*w.There, w.Plan)) > 0,
	}
	for _, pod := range []string{"coredns", "keepalived", "haproxy", "speaker"} {
		runs := func(f asset.File) bool { return f.Path == pods+pod+".yaml" }
		if reads[pod] && slices.ContainsFunc(w.Goods.Tree(), runs) {
			all = append(all, pod)
		}
	}
	return all
}

// and joins names with commas and a last "and".
func and(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

func (w Wanted) keepalived(c Change) Effect {
	if c.Kind == Missing {
		return Effect{Level: Restart, Of: []string{"keepalived"},
			Text: "kubelet starts the pod: this node becomes a candidate for the VIPs"}
	}
	return Effect{Level: Moves, Text: "kubelet begins the pod anew: a VIP that this node holds " +
		"goes to another one first, " + w.within("reboot"), Of: []string{"keepalived"}}
}

func speaker(c Change) Effect {
	if c.Kind == Missing {
		return Effect{Level: Restart, Of: []string{"speaker"}, Text: "kubelet starts the pod: " +
			"this node announces to its routers the VIPs that it serves"}
	}
	return Effect{Level: Moves, Of: []string{"speaker"}, Text: "kubelet begins the pod anew: the " +
		"node leads its routers to other nodes, withdraws the VIPs, and announces them again; " +
		"all of its connections break once"}
}

func (w Wanted) haproxy(c Change) Effect {
	if c.Kind == Missing {
		return Effect{Level: Restart, Of: []string{"haproxy"},
			Text: "kubelet starts the pod: this node balances the API"}
	}
	return Effect{Level: MayMove, Text: "kubelet begins the pod anew: connections that go " +
		"through it are cut, and new ones go to this node's own API server meanwhile; where " +
		"HAProxy is away for too long, as when its image has to be pulled, a VIP that this node " +
		"holds goes to another one, " + w.within("lb-crash"), Of: []string{"haproxy"}}
}

// nodeIPUnit chooses the node's addresses. OpenShift's own has the same name.
const nodeIPUnit = asset.UnitDir + "/nodeip-configuration.service"

// nodeIP are the effects of our program choosing the node's addresses instead of OpenShift's.
func nodeIP(c Change) Effect {
	text := "from the next boot our program chooses this node's addresses: of several IPv4 " +
		"addresses in one network it takes the interface's primary one, and OpenShift's the " +
		"lowest. A node that has several keeps its address with NODEIP_PREFER=lowest in " +
		"/etc/default/nodeip-configuration"
	if c.knownBy != "" {
		text += ", or with NODEIP_HINT=" + c.knownBy + ", which it is known by now"
	}
	return Effect{Level: MayMove, Text: text}
}

// knownBy is the address by which the host is known, from its node-ip of this boot; empty without
// one.
func knownBy(root fs.FS) string {
	text, _, err := read(root, "/run/nodeip-configuration/primary-ip")
	address, errAddress := netip.ParseAddr(strings.TrimSpace(string(text)))
	if err != nil || errAddress != nil {
		return ""
	}
	return address.String()
}

// within is the bound of a failure by the host's own plan, in words.
func (w Wanted) within(scenario string) string {
	p := w.Plan
	if w.There != nil {
		p = *w.There
	}
	for _, b := range p.Timing.Bounds {
		if b.Scenario == scenario {
			return fmt.Sprintf("within %d ms, of which %d without service", b.Ms, b.DarkMs)
		}
	}
	return "in no time that is known here"
}

// one is a single effect.
func one(level Level, format string, args ...any) []Effect {
	return effect.One(level, format, args...)
}

func worstFirst(effects []Effect) []Effect {
	slices.SortStableFunc(effects, func(a, b Effect) int { return b.Level.Compare(a.Level) })
	return effects
}
