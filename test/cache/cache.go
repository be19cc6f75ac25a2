// Package cache keeps what is built once for the tests and the demo, by version, under
// ${XDG_CACHE_HOME:-~/.cache}/onprem-infra.
package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Dir is a directory of the cache. If it is missing, build fills it: it appears whole or not at
// all, and two processes do not build it at the same time.
func Dir(name string, build func(dir string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "onprem-infra", name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	part := dir + ".part"
	if err := errors.Join(os.RemoveAll(part), os.Mkdir(part, 0o755)); err != nil {
		return "", err
	}
	if err := build(part); err != nil {
		return "", errors.Join(fmt.Errorf("build %s: %w", name, err), os.RemoveAll(part))
	}
	return dir, os.Rename(part, dir)
}

// CoreDNS is the path of a static stock CoreDNS, built from test/third_party/coredns at the first
// call: about a minute, and the modules are downloaded. The working directory must be in the
// project.
func CoreDNS(ctx context.Context) (string, error) { return thirdParty(ctx, "coredns", "coredns", ".") }

// KubeAPIServer is the path of a static kube-apiserver of the version that
// test/third_party/kubernetes names, built at the first call: some minutes, 2 GB of memory, and the
// modules are downloaded. The working directory must be in the project.
func KubeAPIServer(ctx context.Context) (string, error) { return kubernetes(ctx, "kube-apiserver") }

// Kubelet is KubeAPIServer for the kubelet of the same version.
func Kubelet(ctx context.Context) (string, error) { return kubernetes(ctx, "kubelet") }

// Kubeadm is KubeAPIServer for kubeadm of the same version, from a module of its own.
func Kubeadm(ctx context.Context) (string, error) { return administrators(ctx, "kubeadm") }

// Kubectl is Kubeadm for kubectl.
func Kubectl(ctx context.Context) (string, error) { return administrators(ctx, "kubectl") }

func administrators(ctx context.Context, program string) (string, error) {
	return thirdParty(ctx, "kubeadm", program, "k8s.io/kubernetes/cmd/"+program)
}

// Metal3Judge is the path of a program that reads BareMetalHosts as metal3's API does, built from
// test/third_party/metal3 at the first call: about a minute, and the modules are downloaded. The
// working directory must be in the project.
func Metal3Judge(ctx context.Context) (string, error) { return thirdParty(ctx, "metal3", "judge", ".") }

// baremetalOperator is the package of metal3's operator, and the module's name.
const baremetalOperator = "github.com/metal3-io/baremetal-operator"

// BaremetalOperator is the path of metal3's operator of the version in test/third_party/bmo, built at
// the first call: some minutes, and the modules are downloaded. The working directory must be in the
// project.
func BaremetalOperator(ctx context.Context) (string, error) {
	return thirdParty(ctx, "bmo", "baremetal-operator", baremetalOperator)
}

// Metal3Config is the directory of the objects that metal3's operator of that version brings: its types
// in crds/bases/GROUP_PLURAL.yaml, its rights in rbac/role.yaml. Its module is downloaded at the first
// call. The working directory must be in the project.
func Metal3Config(ctx context.Context) (string, error) {
	module, err := thirdPartyDir(ctx, "bmo")
	if err != nil {
		return "", err
	}
	if _, err := goTool(ctx, module, "mod", "download", baremetalOperator); err != nil {
		return "", err
	}
	dir, err := goTool(ctx, module, "list", "-m", "-f", "{{.Dir}}", baremetalOperator)
	return filepath.Join(dir, "config", "base"), err
}

// thirdPartyDir is the directory of the module test/third_party/MODULE.
func thirdPartyDir(ctx context.Context, name string) (string, error) {
	root, err := goTool(ctx, ".", "list", "-m", "-f", "{{.Dir}}", "github.com/onprem-infra/onprem-infra")
	return filepath.Join(root, "test", "third_party", name), err
}

func kubernetes(ctx context.Context, program string) (string, error) {
	return thirdParty(ctx, "kubernetes", program, "k8s.io/kubernetes/cmd/"+program)
}

// thirdParty is a program of the module test/third_party/MODULE. Its version is the module's
// source, which names all it is built from.
func thirdParty(ctx context.Context, name, program, source string) (string, error) {
	module, err := thirdPartyDir(ctx, name)
	if err != nil {
		return "", err
	}
	sum, err := digest(os.DirFS(module))
	if err != nil {
		return "", err
	}
	toolchain, err := goTool(ctx, module, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	dir, err := Dir(fmt.Sprintf("%s-%s-%x", program, toolchain, sum[:6]), func(dir string) error {
		flags, err := versioned(ctx, module, source)
		if err != nil {
			return err
		}
		_, err = goTool(ctx, module, "build", "-trimpath", "-p", "2", "-ldflags=-s -w"+flags, "-o", filepath.Join(dir, program), source)
		return err
	})
	return filepath.Join(dir, program), err
}

// versioned are the linker's flags that tell a program of Kubernetes which version it is, as its
// own release build does: a Node reports it.
func versioned(ctx context.Context, module, source string) (string, error) {
	found, err := goTool(ctx, module, "list", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", source)
	if err != nil {
		return "", err
	}
	version, ok := strings.CutPrefix(found, "k8s.io/kubernetes v")
	if !ok {
		return "", nil
	}
	parts := strings.SplitN(version, ".", 3)
	set := " -X k8s.io/component-base/version."
	return set + "gitVersion=v" + version + set + "gitMajor=" + parts[0] + set + "gitMinor=" + parts[1], nil
}

// digest covers the files of a module.
func digest(module fs.FS) ([]byte, error) {
	sum := sha256.New()
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(module, name)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		return err
	})
	return sum.Sum(nil), err
}

// goTool runs the go command without cgo, so that what it builds runs in an empty image. GOFLAGS,
// which may name tags and modes that are another module's, are not passed on. A build takes
// minutes, so it yields to whatever else the machine does.
func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "5", "go"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOAMD64=v1", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}
