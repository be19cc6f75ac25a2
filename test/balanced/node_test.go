package balanced

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/fabric"
	"github.com/onprem-infra/onprem-infra/test/pods"
)

// node is a control plane node with its pods and its API server.
type node struct {
	*pods.Node
	w       *world
	address netip.Addr
	image   string // directory of the image of its balancer
	killAPI func()
}

// The containers.
const (
	proxy   = "haproxy/haproxy"
	monitor = "speaker/speaker-monitor"
)

// node adds a node, with its API server.
func (w *world) node(rack, number int) {
	w.t.Helper()
	name := fmt.Sprintf("n%d", len(w.nodes)+1)
	four, _ := fabric.RackAddress(rack, number)
	n := &node{w: w, address: four.Addr(), image: filepath.Join(w.dir, name+"-haproxy")}
	w.register(name, n.address)
	images := map[string]string{"haproxy": n.image, "frr": filepath.Join(w.dir, "image-frr"), "ours": filepath.Join(w.dir, "image-ours")}
	for image, dir := range images {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			w.must(pods.Image(dir, w.images[image]))
		}
	}
	var err error
	n.Node, err = pods.New(w.f.Host(name, rack, number), filepath.Join(w.dir, name), images)
	w.must(err)
	set, err := cluster.Assets(w.plan, role.Master)
	w.must(err)
	files := []asset.File{{Path: plan.Path, Mode: 0o644, Contents: plan.Encode(w.plan)}, {Path: w.plan.Kubeconfig, Mode: 0o600, Contents: w.kubeconfig()}}
	for _, f := range set.Files() {
		if name := filepath.Base(f.Path); strings.Contains(f.Path, "/manifests/") && (name == "haproxy.yaml" || name == "speaker.yaml") {
			files = append(files, f)
		}
	}
	w.must(n.Write(files...))
	w.t.Cleanup(n.end)
	n.startAPI()
	w.nodes = append(w.nodes, n)
}

// start starts the pods of all nodes side by side.
func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	errs := make([]error, len(w.nodes))
	var starting sync.WaitGroup
	for i, n := range w.nodes {
		starting.Go(func() { errs[i] = n.Start(ctx) })
	}
	starting.Wait()
	w.must(errors.Join(errs...))
}

func (n *node) end() {
	if n.w.t.Failed() {
		for _, c := range n.Containers() {
			n.w.t.Logf("%s/%s:\n%s", n.Host.Name, c, n.Log(c))
		}
		status, _ := os.ReadFile(filepath.Join(n.Root, spoken.RunDir, spoken.StatusFile))
		n.w.t.Logf("%s: %s", n.Host.Name, status)
	}
	if err := n.Stop(); err != nil {
		n.w.t.Error(err)
	}
}

func (n *node) startAPI() {
	n.w.t.Helper()
	n.killAPI = n.w.launch(n.Host, n.w.dir+"/backend", "-name", n.Host.Name, "-cert", n.w.pem())
}

// signal signals all processes of HAProxy: the worker that serves is a child of the first one.
func (n *node) signal(s syscall.Signal) {
	n.w.t.Helper()
	master, err := n.PID(proxy)
	n.w.must(err)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", master, master))
	n.w.must(err)
	for _, field := range append(strings.Fields(string(text)), strconv.Itoa(master)) {
		pid, err := strconv.Atoi(field)
		n.w.must(err)
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			n.w.t.Fatal(err)
		}
	}
}

// down ends HAProxy and the API server, and nothing starts the former again.
func (n *node) down() {
	n.w.t.Helper()
	program := filepath.Join(n.image, balancer)
	n.w.must(os.Rename(program, program+".away"))
	n.signal(syscall.SIGKILL)
	n.killAPI()
}

// up ends what down began.
func (n *node) up() {
	n.w.t.Helper()
	program := filepath.Join(n.image, balancer)
	n.w.must(os.Rename(program+".away", program))
	n.startAPI()
}

// serves reports whether the node announces, as its speaker reports, and HAProxy runs.
func (n *node) serves() bool {
	text, err := os.ReadFile(filepath.Join(n.Root, spoken.RunDir, spoken.StatusFile))
	if err != nil {
		return false
	}
	status, err := spoken.Decode[spoken.Status](text)
	if _, gone := n.PID(proxy); err != nil || gone != nil {
		return false
	}
	return len(status.Sessions) > 0 && !slices.ContainsFunc(status.Sessions, func(s spoken.Session) bool { return len(s.Advertised) == 0 })
}
