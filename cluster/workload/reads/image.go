package reads

import (
	"fmt"
	"net/netip"
	"path"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Image is what metal3 writes to a host's disk: the operating system of the description, from the
// server beside Ironic, which has verified and unpacked it. The digest of an unpacked one is what
// that server has computed. The error is a finding about the description.
func Image(p plan.Plan) (i object.Image, err error) {
	text := p.Images[spec.OSImage]
	if text == "" {
		return i, fmt.Errorf("images.%s: it is missing: name the image of the operating system "+
			"that hosts are written with", spec.OSImage)
	}
	a, err := artifact.Parse(text)
	if err != nil {
		return i, fmt.Errorf("images.%s: %w", spec.OSImage, err)
	}
	file := layout.OSRaw
	if i = (object.Image{ChecksumType: "sha256", Format: "raw", Checksum: a.SHA256}); a.QCOW2() {
		file, i.Format = layout.OSQcow2, "qcow2"
	}
	at := netip.AddrPortFrom(p.Provisioning.IP, p.Ports[port.ProvisioningHTTP])
	i.URL = "http://" + at.String() + strings.TrimPrefix(file, path.Dir(layout.Images))
	if a.Compressed() {
		i.Checksum = i.URL + layout.Digest
	}
	return i, nil
}
