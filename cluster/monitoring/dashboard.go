package monitoring

import (
	"encoding/json"

	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// The dashboard is in Grafana's classic model, which every Grafana imports.

type board struct {
	Annotations   empty      `json:"annotations"`
	Description   string     `json:"description"`
	Editable      bool       `json:"editable"`
	GraphTooltip  int        `json:"graphTooltip"` // 1: one crosshair for all panels
	Links         []struct{} `json:"links"`
	Panels        []panel    `json:"panels"`
	Refresh       string     `json:"refresh"`
	SchemaVersion int        `json:"schemaVersion"`
	Tags          []string   `json:"tags"`
	Templating    templating `json:"templating"`
	Time          span       `json:"time"`
	Timezone      string     `json:"timezone"`
	Title         string     `json:"title"`
	UID           string     `json:"uid"`
}

type empty struct {
	List []struct{} `json:"list"`
}

type span struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type templating struct {
	List []variable `json:"list"`
}

type variable struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	Type       string  `json:"type"`
	Query      string  `json:"query"`
	Datasource *source `json:"datasource,omitempty"`
	IncludeAll bool    `json:"includeAll"`
	Multi      bool    `json:"multi"`
	Refresh    int     `json:"refresh"` // 2: whenever the time range changes
	Hide       int     `json:"hide"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type panel struct {
	ID          int      `json:"id"`
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Collapsed   *bool    `json:"collapsed,omitempty"` // of a row
	Panels      *[]panel `json:"panels,omitempty"`    // of a row that is collapsed
	Datasource  *source  `json:"datasource,omitempty"`
	GridPos     grid     `json:"gridPos"`
	FieldConfig *fields  `json:"fieldConfig,omitempty"`
	Targets     []target `json:"targets,omitempty"`
}

type grid struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type fields struct {
	Defaults  defaults   `json:"defaults"`
	Overrides []struct{} `json:"overrides"`
}

type defaults struct {
	Unit string `json:"unit,omitempty"`
	Min  *int   `json:"min,omitempty"`
}

type target struct {
	RefID        string  `json:"refId"`
	Expr         string  `json:"expr"`
	LegendFormat string  `json:"legendFormat"`
	Datasource   *source `json:"datasource"`
	Instant      bool    `json:"instant,omitempty"`
}

// width is that of Grafana's grid.
const width = 24

// ours is the data source that the viewer has chosen.
func ours() *source { return &source{"prometheus", "${datasource}"} }

// graph is a panel in few words.
type graph struct {
	kind, title, unit string
	wide              int
	expr, legend      string
	text              string
}

// dashboard shows a cluster, with the holders of the VIPs at the top.
func dashboard(p plan.Plan) []byte {
	b := board{
		Annotations: empty{[]struct{}{}},
		Description: "Virtual IPs, balancers and names of cluster " + p.Cluster.Name + ".",
		Editable:    true, GraphTooltip: 1, Links: []struct{}{},
		Refresh: "30s", SchemaVersion: 36, Tags: []string{"onprem-infra"},
		Time: span{"now-6h", "now"}, Timezone: "browser",
		Title: "On-premises VIPs: " + p.Cluster.Name, UID: "onprem-" + short(p.Cluster.Name),
		Templating: templating{[]variable{
			{
				Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus",
				Refresh: 1,
			},
			{
				Name: "vip", Label: "VIP", Type: "query",
				Query:      "label_values(onprem_vip_holder{" + these(p.VIPs.All()) + "}, vip)",
				Datasource: ours(), IncludeAll: true, Multi: true, Refresh: 2,
			},
		}},
	}
	y := 0
	for _, row := range rows() {
		collapsed, none := false, []panel{}
		b.Panels = append(b.Panels, panel{
			ID: len(b.Panels) + 1, Type: "row", Title: row.title, Collapsed: &collapsed,
			Panels: &none, GridPos: grid{1, width, 0, y},
		})
		y++
		x := 0
		for _, g := range row.graphs {
			if x+g.wide > width {
				x, y = 0, y+height
			}
			b.Panels = append(b.Panels, g.panel(len(b.Panels)+1, x, y))
			x += g.wide
		}
		y += height
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		panic("monitoring: strings and numbers cannot fail to be written: " + err.Error())
	}
	return append(text, '\n')
}

// height is that of a panel.
const height = 8

// short keeps a dashboard's identifier within the 40 letters that Grafana allows.
func short(name string) string { return name[:min(len(name), 40-len("onprem-"))] }

func (g graph) panel(id, x, y int) panel {
	zero := 0
	return panel{
		ID: id, Type: g.kind, Title: g.title, Description: g.text, Datasource: ours(),
		GridPos:     grid{height, g.wide, x, y},
		FieldConfig: &fields{Defaults: defaults{Unit: g.unit, Min: &zero}, Overrides: []struct{}{}},
		Targets: []target{{
			RefID: "A", Expr: g.expr, LegendFormat: g.legend, Datasource: ours(),
			Instant: g.kind == "stat",
		}},
	}
}

type row struct {
	title  string
	graphs []graph
}

// Matchers of the chosen VIPs, and the legend of a VIP on a host.
const (
	vip  = `{vip=~"$vip"}`
	host = "{{vip}} {{instance}}"
)

// rows are the panels, from what clients notice to what the programs cost.
func rows() []row {
	return []row{holderRow(), advertRow(), checkRow(), balancerRow(), nameRow(), programRow()}
}

func holderRow() row {
	return row{"Holders of the VIPs", []graph{
		{"state-timeline", "Holder", "", 16, `onprem_vip_holder` + vip + ` == 1`, host, "One line for each host that holds a VIP. Two at one time are a fault; a gap is a time without a holder."},
		{
			"stat", "Holders now", "", 8, `sum by (vip) (onprem_vip_holder` + vip + `)`,
			"{{vip}}", "One for each VIP.",
		},
		{
			"timeseries", "Effective priority", "", 8, `onprem_vip_priority` + vip, host,
			"The highest one holds the VIP.",
		},
		{
			"timeseries", "What the priority is made of", "", 8,
			`sum by (vip, part, instance) (onprem_vip_priority_part` + vip + `)`,
			"{{part}} {{vip}} {{instance}}", "",
		},
		{"timeseries", "Taken over", "", 8, `sum by (vip, instance) (increase(onprem_vip_transitions_total{vip=~"$vip",state="master"}[$__rate_interval]))`, host, "How often a host took over a VIP."},
		{
			"state-timeline", "State", "", 12, `onprem_vip_state` + vip + ` == 1`,
			"{{vip}} {{instance}} {{state}}", "",
		},
		{"state-timeline", "Has the address and does not hold it", "", 12, `(onprem_vip_address_present` + vip + ` == 1) unless (onprem_vip_holder` + vip + ` == 1)`, host, "Should be empty."},
	}}
}

func advertRow() row {
	return row{"Adverts as the hosts receive them", []graph{
		{
			"timeseries", "Time without a holder", "s", 8, `onprem_vip_gap_last_seconds` + vip,
			host, "At the last change of the holder, as each host observed it.",
		},
		{
			"timeseries", "Age of the last advert", "s", 8,
			`onprem_vip_advert_age_seconds` + vip, host, "",
		},
		{
			"timeseries", "Adverts late by", "s", 8, `onprem_vip_advert_jitter_seconds` + vip,
			host, "At twice the interval a takeover without need is near.",
		},
		{"timeseries", "Clashes", "", 24, `max by (vip, fault) (onprem_vip_clashes` + vip + `) > 0`, "{{fault}} {{vip}}", "Should be empty; the monitors' logs name the hosts."},
	}}
}

func checkRow() row {
	return row{"Checks and keepalived", []graph{
		{
			"state-timeline", "Checks that fail", "", 12, `onprem_check_passes == 0`,
			"{{check}} {{instance}}", "",
		},
		{
			"timeseries", "Changes of the checks", "", 12,
			`increase(onprem_check_changes_total[$__rate_interval]) > 0`,
			"{{check}} {{instance}}", "",
		},
		{"timeseries", "keepalived runs, refuses, has left", "", 12, `onprem_keepalived_running + 2 * onprem_keepalived_refused + 4 * onprem_keepalived_leaving`, "{{instance}}", "1 is healthy."},
		{"timeseries", "Reloads and restarts", "", 12, `increase(onprem_keepalived_reloads_total[$__rate_interval]) + increase(onprem_keepalived_restarts_total[$__rate_interval])`, "{{instance}}", ""},
		{
			"stat", "Nodes that have seen the API work", "", 24, `sum(onprem_vip_gate_open)`,
			"gate open", "The others are not eligible for an API VIP.",
		},
	}}
}

func balancerRow() row {
	return row{"Balancers", []graph{
		{
			"timeseries", "API servers up", "", 8, `sum by (instance) (onprem_lb_backend_up)`,
			"{{instance}}", "",
		},
		{
			"timeseries", "Connections", "", 8,
			`sum by (instance, address) (onprem_lb_backend_sessions)`,
			"{{address}} by {{instance}}", "",
		},
		{
			"state-timeline", "HAProxy bypassed", "", 8, `onprem_lb_redirect == 0`,
			"{{instance}}", "Should be empty.",
		},
		{
			"timeseries", "Reloads", "", 24,
			`increase(onprem_lb_reloads_total[$__rate_interval])`, "{{instance}}",
			"Members come and go without one.",
		},
	}}
}

func nameRow() row {
	return row{"Names", []graph{
		{"timeseries", "Nodes with a name", "", 8, `onprem_dns_nodes`, "{{instance}}", ""},
		{
			"timeseries", "CoreDNS is behind by", "s", 8, `onprem_dns_stale_seconds`,
			"{{instance}}", "",
		},
		{
			"timeseries", "Name servers beyond the cluster", "", 8, `onprem_dns_upstreams`,
			"{{instance}}", "",
		},
	}}
}

func programRow() row {
	return row{"The programs", []graph{
		{
			"timeseries", "Age of the last message from the API", "s", 8,
			`onprem_watch_age_seconds`, "{{room}} {{watch}} {{instance}}", "",
		},
		{
			"timeseries", "Failed steps", "", 8,
			`rate(onprem_faults_total[$__rate_interval]) > 0`, "{{room}} {{step}} {{instance}}",
			"",
		},
		{"timeseries", "Nodes known", "", 8, `onprem_nodes`, "{{role}} {{instance}}", ""},
		{"timeseries", "Processor", "percentunit", 12, `rate(process_cpu_seconds_total[$__rate_interval]) * on (instance, job) group_left (room) onprem_build_info`, "{{room}} {{instance}}", ""},
		{"timeseries", "Memory", "bytes", 12, `process_resident_memory_bytes * on (instance, job) group_left (room) onprem_build_info`, "{{room}} {{instance}}", ""},
	}}
}
