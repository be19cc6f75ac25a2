package name

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Read reads the cluster's name and its base domain, or those that clusterDomain is made of: a
// template that writes the file may be unable to split it.
func Read(r *document.Reader, metadata, spec document.Map) (cluster,
	domain document.Scalar[string]) {
	cluster, domain = r.Text(metadata.Get("name")), r.Text(spec.Get("baseDomain"))
	together := spec.Get("clusterDomain")
	if together.Node == nil {
		return cluster, domain
	}
	whole := r.Text(together)
	if cluster.Given || domain.Given {
		r.Errorf(whole.At,
			"stands beside the name or the base domain, which it is made of: leave one or the "+
				"other")
	}
	cluster, domain = whole, whole
	cluster.Value, domain.Value, cluster.OK = strings.Cut(whole.Value, ".")
	if domain.OK = cluster.OK; !cluster.OK {
		r.Refuse(whole, "has no dot: write the cluster's name and the domain above it, such as "+
			"prod.example.com")
	}
	return cluster, domain
}
