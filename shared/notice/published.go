package notice

import (
	"encoding/json"
	"fmt"
)

// PublishedKey is the annotation of a control plane node's own Node that lists the nodes that may
// hold the ingress VIP. Only the node itself can write it, with its kubelet's credentials
// (NodeRestriction).
const PublishedKey = "onprem-infra.io/ingress-candidates"

// Published is a list with its serial. Of several lists the one with the highest serial counts. The
// serial is the time of writing, in seconds since 1970, or one more than the highest one that the
// writer knew, so it also shows the age of a list.
type Published struct {
	Serial     uint64      `json:"serial"`
	Candidates []Candidate `json:"candidates"`
}

// mostSerial bounds the serial, so that there is always a higher one.
const mostSerial = 1 << 53

// EncodePublished makes the annotation's value.
func EncodePublished(p Published) string {
	if p.Candidates == nil {
		p.Candidates = []Candidate{}
	}
	text, err := json.Marshal(p)
	if err != nil { // numbers, strings and addresses alone: all of them can be written
		return ""
	}
	return string(text)
}

// ReadPublished accepts all of the value or nothing of it.
func ReadPublished(text string, cluster Cluster) (Published, error) {
	var p Published
	if err := decode(PublishedKey, text, &p); err != nil {
		return Published{}, err
	}
	if p.Serial == 0 || p.Serial >= mostSerial {
		return Published{}, fmt.Errorf("%s: the serial %d is not between 1 and %d",
			PublishedKey, p.Serial, uint64(mostSerial))
	}
	if err := validateList(p.Candidates, cluster); err != nil {
		return Published{}, fmt.Errorf("%s: %w", PublishedKey, err)
	}
	return p, nil
}
