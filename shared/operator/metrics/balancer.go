package metrics

// What a control plane node reports of its HAProxy.
var (
	LBRunning  = Family{"onprem_lb_running", Gauge, "1 while HAProxy answers.", nil}
	LBRedirect = Family{"onprem_lb_redirect", Gauge, "1 while connections to the API VIP go through HAProxy, 0 while they go to this node's own API server.", nil}
	LBLost     = Family{"onprem_lb_redirect_lost_total", Counter, "How often the redirect to HAProxy was restored after another program had removed it.", nil}
	LBReloads  = Family{"onprem_lb_reloads_total", Counter, "Reloads of HAProxy's configuration.", nil}
	LBUp       = Family{"onprem_lb_backend_up", Gauge, "1 when HAProxy sends new connections to the API server.", []string{"server", "address"}}
	LBSessions = Family{"onprem_lb_backend_sessions", Gauge, "Open connections to the API server.", []string{"server", "address"}}
)

func ofBalancers() []Family {
	return []Family{LBRunning, LBRedirect, LBLost, LBReloads, LBUp, LBSessions}
}

// Balancer is a node's HAProxy.
type Balancer struct {
	Running, Redirect bool
	Lost, Reloads     uint64
	Servers           []Server // of the API, as HAProxy last reported
}

// Server is an API server behind HAProxy. There are no more than HAProxy has places for.
type Server struct {
	Name, Address string
	Up            bool
	Sessions      int
}

// Onto adds the metrics to a page.
func (b Balancer) Onto(p *Page) {
	p.Flag(LBRunning, b.Running)
	p.Flag(LBRedirect, b.Redirect)
	p.Add(LBLost, float64(b.Lost))
	p.Add(LBReloads, float64(b.Reloads))
	for _, s := range b.Servers {
		p.Flag(LBUp, s.Up, s.Name, s.Address)
		p.Add(LBSessions, float64(s.Sessions), s.Name, s.Address)
	}
}
