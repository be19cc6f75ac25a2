package monitoring

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"text/template"

	"github.com/onprem-infra/onprem-infra/shared/plan"
)

var (
	//go:embed dashboard.json.tmpl
	dashboardText string
	//go:embed panels.yaml
	panelsText []byte
)

var parsed = sync.OnceValue(func() *template.Template {
	funcs := template.FuncMap{"json": func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	}}
	return template.Must(template.New("dashboard.json").Funcs(funcs).Parse(dashboardText))
})

// row is a row of panels.yaml.
type row struct {
	Title  string
	Ironic bool // of clusters whose balancers serve Ironic
	Routed bool // of clusters whose hosts announce VIPs to their routers
	Panels []panel
}

// panel is a panel of panels.yaml, or the title of a row, and its place.
type panel struct {
	Type, Title, Unit, Expr, Legend, Text string

	Wide, ID, Tall, X, Y int
}

// width is that of Grafana's grid.
const width = 24

// height is that of a panel.
const height = 8

func rows() (all []row) {
	decode(panelsText, &all)
	return all
}

// place puts the panels below the titles of their rows, from left to right.
func place(rows []row) (placed []panel) {
	y := 0
	for _, r := range rows {
		title := panel{Type: "row", Title: r.Title, ID: len(placed) + 1, Wide: width, Tall: 1, Y: y}
		placed = append(placed, title)
		y++
		x := 0
		for _, p := range r.Panels {
			if x+p.Wide > width {
				x, y = 0, y+height
			}
			p.ID, p.X, p.Y, p.Tall = len(placed)+1, x, y, height
			placed = append(placed, p)
			x += p.Wide
		}
		y += height
	}
	return placed
}

// dashboard shows a cluster, with the holders of the VIPs at the top.
func dashboard(p plan.Plan) []byte {
	shown := slices.DeleteFunc(rows(), func(r row) bool {
		return r.Ironic && !p.BalancesIronic() || r.Routed && p.BGP == nil
	})
	var page, out bytes.Buffer
	err := parsed().Execute(&page, map[string]any{
		"Cluster": p.Cluster.Name, "UID": "onprem-" + short(p.Cluster.Name),
		"VIPs": these(p.VIPs.All()), "Panels": place(shown),
	})
	if err == nil {
		err = json.Indent(&out, page.Bytes(), "", "  ")
	}
	if err != nil {
		panic(fmt.Sprintf("render dashboard.json: %v", err)) // only a wrong template comes here
	}
	return out.Bytes()
}

// short keeps a dashboard's identifier within the 40 characters that Grafana allows.
func short(name string) string { return name[:min(len(name), 40-len("onprem-"))] }
