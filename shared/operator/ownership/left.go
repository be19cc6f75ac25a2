package ownership

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Former is what may have written the files of a host before.
type Former struct {
	Roles []role.Role
	Plans []plan.Plan
	// Assets returns what a host of a role gets by a plan, and Paths only the paths of that. They
	// fail for a role that the cluster does not have.
	Assets func(plan.Plan, role.Role) (asset.Set, error)
	Paths  func(plan.Plan, role.Role) ([]string, error)
}

// Retired lists the paths that such hosts may have, whichever load balancer the cluster has, and
// whether the bootstrap machine provisions hosts or not.
func (f Former) Retired() (all []string) {
	for _, p := range f.Plans {
		p.Images = maps.Clone(p.Images)
		if p.Images == nil {
			p.Images = map[string]string{}
		}
		p.Images[spec.IronicImage] = "any" // with it more files belong to the machine, never fewer
		for _, balancer := range []spec.LoadBalancer{spec.Managed, spec.UserManaged} {
			for _, mdns := range []spec.MDNS{p.MDNS, spec.MDNSEnabled} {
				former := p
				former.LoadBalancer, former.MDNS = balancer, mdns
				for _, r := range f.Roles {
					if list, err := f.Paths(former, r); err == nil {
						all = append(all, list...)
					}
				}
			}
		}
	}
	return all
}

// Leftovers are a host's files at retired paths that are not in its tree: leave are ours, foreign
// are those of others. If any of them cannot be read, both lists are nil, and the error names all
// such files.
func (f Former) Leftovers(host fs.FS, tree []asset.File) (leave, foreign []string, err error) {
	given := f.given()
	var unread []error
	for _, name := range Left(host, tree, f.Retired()) {
		text, err := read(host, name)
		switch {
		case err != nil:
			unread = append(unread, fmt.Errorf("read %s: %w", name, err))
		case Marked(text) || given[name+string(text)] || f.secret(name):
			leave = append(leave, name)
		default:
			foreign = append(foreign, name)
		}
	}
	if len(unread) > 0 {
		return nil, nil, errors.Join(unread...)
	}
	return leave, foreign, nil
}

// secret reports whether a path is that of the routers' passwords, whose text no plan has.
func (f Former) secret(name string) bool {
	return name == spoken.PasswordsFile && slices.ContainsFunc(f.Plans, func(p plan.Plan) bool {
		_, announces := speaks.Of(p)
		return announces
	})
}

// mostRead bounds what is read of a file, in bytes; a plan's files have a hundredth of that. A
// longer one is judged by its beginning.
const mostRead = 4 << 20

func read(host fs.FS, name string) ([]byte, error) {
	f, err := host.Open(inside(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostRead))
}

// given holds path and text of each file that a plan gives: not all of ours name this program.
func (f Former) given() map[string]bool {
	all := map[string]bool{}
	for _, p := range f.Plans {
		for _, r := range f.Roles {
			set, err := f.Assets(p, r)
			if err != nil {
				continue // there is no such role in the cluster
			}
			for _, file := range set.Tree() {
				all[file.Path+string(file.Contents)] = true
			}
		}
	}
	return all
}

// Left lists the retired paths at which the host still has a file, without those of its tree.
func Left(host fs.FS, tree []asset.File, retired []string) (all []string) {
	given := map[string]bool{asset.PresetPath: true}
	for _, f := range tree {
		given[f.Path] = true
	}
	for _, p := range retired {
		info, err := fs.Stat(host, inside(p))
		if !given[p] && err == nil && info.Mode().IsRegular() {
			all = append(all, p)
		}
		given[p] = true
	}
	return all
}

// inside is a host's path as a file system names it.
func inside(p string) string { return strings.TrimPrefix(path.Clean(p), "/") }
