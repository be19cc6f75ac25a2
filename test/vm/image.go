package vm

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Image is a container image that is made here, without a registry.
type Image struct {
	Name string
	// Tree are the files of an image that is imported: path in the image -> path on this machine.
	Tree map[string]string
	// Context is the directory of an image that is built from a Containerfile in it.
	Context string
}

// KeepalivedImage holds this machine's keepalived, the libraries that it is linked with, the files
// in which it finds users, and the file without which Debian 13's exits.
func KeepalivedImage(ctx context.Context, name, keepalived string) (Image, error) {
	tree, err := Linked(ctx, keepalived)
	if err != nil {
		return Image{}, err
	}
	tree["usr/sbin/keepalived"], tree["etc/passwd"], tree["etc/group"] = keepalived, "/etc/passwd", "/etc/group"
	const options = "/etc/keepalived/keepalived.config-opts"
	for _, path := range []string{options, keepalived + ".config-opts"} {
		if _, err := os.Stat(path); err == nil {
			tree[strings.TrimPrefix(options, "/")] = path
		}
	}
	return Image{Name: name, Tree: tree}, nil
}

// Linked are the interpreter and the libraries that a program of this machine is linked with, as
// the tree of an image. The program's own interpreter names them: it may be another release's than
// this machine's, which finds other libraries or none.
func Linked(ctx context.Context, program string) (map[string]string, error) {
	interpreter, err := interpreter(program)
	if interpreter == "" || err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, interpreter, "--list", program).Output()
	if err != nil {
		return nil, fmt.Errorf("list the libraries of %s by %s: %w: %s", program, interpreter, err, out)
	}
	tree := map[string]string{strings.TrimPrefix(interpreter, "/"): interpreter}
	for line := range strings.Lines(string(out)) {
		for _, field := range strings.Fields(line) {
			if filepath.IsAbs(field) {
				tree[strings.TrimPrefix(field, "/")] = field
			}
		}
	}
	return tree, nil
}

// interpreter is what the kernel starts to load the program: nothing for a static one.
func interpreter(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", program, err)
	}
	defer f.Close()
	for _, part := range f.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		path, err := io.ReadAll(part.Open())
		if err != nil {
			return "", fmt.Errorf("read the interpreter of %s: %w", program, err)
		}
		return string(bytes.TrimRight(path, "\x00")), nil
	}
	return "", nil
}

// CoreDNSImage holds a static CoreDNS where the stock image of a cluster has it.
func CoreDNSImage(name, coredns string) Image {
	return Image{Name: name, Tree: map[string]string{"usr/bin/coredns": coredns}}
}

// containersConf are the limits of a machine that may raise none of its own. They belong to the
// machine, not to what runs on it.
const containersConf = `[containers]
default_ulimits = ["nofile=%d:%d", "nproc=%d:%d"]
pids_limit = 0

[engine]
cgroup_manager = "%s"
runtime = "runc"
events_logger = "file"

[network]
network_backend = "netavark"
`

// podman prepares a podman whose storage is the machine's, at the path that it has inside: podman
// remembers paths.
const podman = `
mkdir -p /var/lib/containers /run/containers /run/libpod
mount --bind "$DIR/containers" /var/lib/containers
mount -t tmpfs tmpfs /run/containers
mount -t tmpfs tmpfs /run/libpod
export CONTAINERS_CONF="$DIR/containers.conf"
`

// Load puts images into the container storage of a machine that does not run.
func (m *Machine) Load(ctx context.Context, images ...Image) error {
	if err := os.WriteFile(filepath.Join(m.dir, "containers.conf"), limits("cgroupfs"), 0o644); err != nil {
		return err
	}
	for _, image := range images {
		var cmd *exec.Cmd
		if image.Context != "" {
			cmd = m.step(ctx, podman+`podman build --quiet --isolation chroot --tag "$IMAGE" "$CONTEXT"`, "IMAGE="+image.Name, "CONTEXT="+image.Context)
		} else {
			cmd = m.step(ctx, podman+`podman import --quiet - "$IMAGE"`, "IMAGE="+image.Name)
			layer, err := archive(image.Tree)
			if err != nil {
				return fmt.Errorf("archive image %s: %w", image.Name, err)
			}
			cmd.Stdin = layer
		}
		if err := run(cmd); err != nil {
			return fmt.Errorf("load image %s: %w", image.Name, err)
		}
	}
	return nil
}

// archive is a tar archive of the tree. Symbolic links on this machine become the files that they
// point to.
func archive(tree map[string]string) (io.Reader, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, dir := range []string{"etc", "run", "tmp", "var"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}); err != nil {
			return nil, err
		}
	}
	paths := make([]string, 0, len(tree))
	for path := range tree {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		content, err := os.ReadFile(tree[path])
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(tree[path])
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: int64(info.Mode().Perm()), Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	return &buf, w.Close()
}
