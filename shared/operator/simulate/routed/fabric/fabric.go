// Package fabric is BGP in a router: the paths that it has received, the shortest ones among them,
// and where it leads packets.
package fabric

import "slices"

// Path is a route to a VIP. The zero value is none.
type Path struct {
	Announcer int16  // the index of the host plus 1
	Grade     int16  // by how many AS numbers that host has made it longer
	Length    int16  // how many AS numbers it has
	Through   uint64 // bits of the AS numbers of the routers that have passed it on
}

// Any reports whether the path is a route, and not the zero value.
func (p Path) Any() bool { return p.Announcer > 0 }

// Host is the index of the host that announces it.
func (p Path) Host() int { return int(p.Announcer) - 1 }

// Announce is the path of a host with a grade.
func Announce(host, grade int) Path {
	return Path{Announcer: int16(host + 1), Grade: int16(grade), Length: int16(1 + grade)}
}

// Router is what a router knows of the routes to one VIP. Its ports are numbered from 0 on.
type Router struct {
	Number  uint64 // the bit of its AS number
	Ignores bool   // the lengths of paths
	One     bool   // uses one path
	In      []Path // by port
	Next    []int  // the ports to which packets are led, sorted; none without a route
	best    int    // the port of the path that is passed on
}

// New is a router without a route.
func New(number uint64, ports int) *Router {
	return &Router{Number: number, In: make([]Path, ports), best: -1}
}

// Learn takes what a neighbour announces; the zero path withdraws. It reports whether something
// has changed. A path that has passed the router before is refused (RFC 4271, 9.1.2).
func (r *Router) Learn(port int, p Path) bool {
	if p.Through&r.Number != 0 {
		p = Path{}
	}
	changed := r.In[port] != p
	r.In[port] = p
	return changed
}

// Choose chooses the shortest paths (RFC 4271, 9.1.2.2; those through different ASs are equal, as
// with multipath-relax), and reports whether the ports in use have changed. Among equal paths the
// one that was passed on stays so.
func (r *Router) Choose() bool {
	var next []int
	for port, p := range r.In {
		switch {
		case !p.Any():
		case len(next) == 0 || r.Ignores || p.Length == r.In[next[0]].Length:
			next = append(next, port)
		case p.Length < r.In[next[0]].Length:
			next = append(next[:0], port)
		}
	}
	switch {
	case len(next) == 0:
		r.best = -1
	case !slices.Contains(next, r.best):
		r.best = next[0]
	}
	if r.One && len(next) > 0 {
		next = []int{r.best}
	}
	changed := !slices.Equal(next, r.Next)
	r.Next = next
	return changed
}

// Drop takes a port out of use at once, as a kernel does whose interface goes down.
func (r *Router) Drop(port int) bool {
	i := slices.Index(r.Next, port)
	if i >= 0 {
		r.Next = slices.Delete(slices.Clone(r.Next), i, i+1)
	}
	return i >= 0
}

// Export is what the router announces to a neighbour: its best path, but not to its sender.
func (r *Router) Export(port int) Path {
	if r.best < 0 || r.best == port {
		return Path{}
	}
	p := r.In[r.best]
	p.Length++
	p.Through |= r.Number
	return p
}
