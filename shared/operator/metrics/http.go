package metrics

// What the bootstrap machine reports of the server of boot files and images.
var (
	HTTPServing  = gauge("onprem_http_serving", "1 while the server's ports are open.")
	HTTPRequests = counter("onprem_http_requests_total",
		"Requests of hosts and BMCs that have ended, by what was asked for.", "kind")
	HTTPSent        = counter("onprem_http_sent_bytes_total", "Content that was sent.")
	HTTPConnections = gauge("onprem_http_connections", "Open connections.")
	HTTPItemReady   = gauge("onprem_http_item_ready",
		"1 when all files of an item are there and have the right digests.", "item")
	HTTPItemBytes = gauge("onprem_http_item_bytes",
		"How much of an item has been fetched since its present transfer began.", "item")
)

// Files is the bootstrap machine's server of boot files and images.
type Files struct {
	Serving     bool
	Requests    []Requests // one for each kind, also with a count of 0
	Sent        uint64     // bytes
	Connections int
	Items       []Fetched
}

// Requests are those of one kind.
type Requests struct {
	Kind  string
	Count uint64
}

// Fetched is an item that the server needs.
type Fetched struct {
	Name  string
	Ready bool
	Bytes int64
}

// Onto adds the metrics to a page.
func (f Files) Onto(p *Page) {
	p.Flag(HTTPServing, f.Serving)
	for _, r := range f.Requests {
		p.Add(HTTPRequests, float64(r.Count), r.Kind)
	}
	p.Add(HTTPSent, float64(f.Sent))
	p.Add(HTTPConnections, float64(f.Connections))
	for _, i := range f.Items {
		p.Flag(HTTPItemReady, i.Ready, i.Name)
		p.Add(HTTPItemBytes, float64(i.Bytes), i.Name)
	}
}
