package mdns

import (
	"github.com/coredns/coredns/plugin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	count = promauto.NewGauge(prometheus.GaugeOpts{Namespace: plugin.Namespace, Subsystem: Name,
		Name: "hosts",
		Help: "Hosts that are known by what they announce of themselves."})
	answered = promauto.NewCounter(prometheus.CounterOpts{Namespace: plugin.Namespace,
		Subsystem: Name, Name: "answers_total",
		Help: "Queries that were answered, also by no data."})
	fallen = promauto.NewCounter(prometheus.CounterOpts{Namespace: plugin.Namespace,
		Subsystem: Name, Name: "passed_total",
		Help: "Queries that were left to the next plugin."})
)
