package inspect

import (
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

// ResolverFiles are the files that may name a host's own name servers, best first: NetworkManager's
// view, which never has our own address in it, then the files of NetworkManager and
// systemd-resolved beside a stub.
func ResolverFiles() []string {
	return []string{
		"/run/NetworkManager/resolv.conf",
		"/run/NetworkManager/no-stub-resolv.conf",
		"/run/systemd/resolve/resolv.conf",
		"/etc/resolv.conf",
	}
}

// Question is a record's name to ask for: one below a wildcard has a first label of the caller's.
func Question(r record.Record, label string) string {
	if r.Wildcard {
		return label + "." + string(r.Name)
	}
	return string(r.Name)
}

// Resolvers are those of the files that exist.
func (h Files) Resolvers() (files []nameserver.Resolver, err error) {
	for _, path := range ResolverFiles() {
		text, err := h.Optional(path)
		if err != nil {
			return nil, err
		}
		if text != nil {
			files = append(files, nameserver.Resolver{Path: path, Text: text})
		}
	}
	return files, nil
}
