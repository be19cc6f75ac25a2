package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/onprem-infra/onprem-infra/shared/nameserver"
)

// resolvers are where a host's own name servers may stand, best first: NetworkManager's view, which
// never has our own address in it, then what NetworkManager and systemd-resolved keep beside a
// stub.
var resolvers = [...]string{
	"/run/NetworkManager/resolv.conf",
	"/run/NetworkManager/no-stub-resolv.conf",
	"/run/systemd/resolve/resolv.conf",
	"/etc/resolv.conf",
}

// readResolvers reads those of the resolvers that exist.
func readResolvers() (files []nameserver.Resolver, err error) {
	for _, path := range resolvers {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, nameserver.Resolver{Path: path, Text: text})
	}
	return files, nil
}
