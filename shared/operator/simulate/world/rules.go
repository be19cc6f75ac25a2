package world

import "time"

// RuleState is what the rules remember of a run. Times are negative while they do not count.
type RuleState struct {
	Dual         [][]time.Duration // by pair: since when both hold the VIP and exchange adverts
	Reported     [][]bool          // of this time with two
	Remnant      []time.Duration   // by host: since when it has the VIP without a keepalived
	None         time.Duration     // since when no host holds it
	Able         []time.Duration   // by host: since when it could take the VIP over
	NoneReported bool              // of this time without a holder
	Astray       time.Duration     // since when clients send to a host without the VIP
	Health       []time.Duration   // by host: when its health last changed
	ReleasedAt   time.Duration     // when a holder last advertised priority 0
}
