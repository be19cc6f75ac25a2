// Package debian makes root file systems of Debian 13 for the tests that boot bare machines, once
// on this machine, and runs programs in them.
//
// What boots a machine is then the same on every release that this machine may have: qemu, its
// firmware, iPXE, Ironic, and the kernels and programs of what is booted.
package debian

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/test/cache"
)

// Suite is the release of all roots. It has an Ironic that metal3 of today accepts, and its agent.
const Suite = "trixie"

// Recipe is what a root has beside a minimal Debian.
type Recipe struct {
	Name     string
	Packages []string
	// Unpacked are packages without those that they depend on, and without their scripts. A kernel
	// that is installed would have an initramfs made, which nothing here starts.
	Unpacked []string
	// Finish is a script for sh(1). The root is at $R, with /proc.
	Finish string
}

// Root is the path of a root.
type Root string

// lean are files of packages that no test reads, and no wait for the disk: what is half written
// when the machine stops is made anew.
const lean = `force-unsafe-io
path-exclude=/usr/share/doc/*
path-exclude=/usr/share/man/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/i18n/*
path-exclude=/usr/share/lintian/*
path-exclude=/usr/share/bug/*
`

// install runs on a copy of the minimal Debian. It starts nothing. The name of a kernel's package
// without a version only depends on the one with it.
const install = `
mount -t proc proc "$R/proc"
printf '#!/bin/sh\nexit 101\n' >"$R/usr/sbin/policy-rc.d"
chmod 755 "$R/usr/sbin/policy-rc.d"
cp /etc/resolv.conf "$R/etc/resolv.conf"
apt() { chroot "$R" apt-get -q -y -o APT::Install-Recommends=0 -o Acquire::Languages=none "$@"; }
apt update
[ -z "$PACKAGES" ] || apt install $PACKAGES
for package in $UNPACKED; do
	case $package in linux-image-*)
		package=$(chroot "$R" apt-cache depends --important "$package" |
			sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p') ;;
	esac
	(cd "$R/tmp" && chroot "$R" sh -c 'cd /tmp && apt-get -q download "$1"' sh "$package")
	chroot "$R" sh -c 'dpkg -x /tmp/*.deb / && rm /tmp/*.deb'
done
apt clean
eval "$FINISH"
rm -rf "$R/usr/sbin/policy-rc.d" "$R"/var/lib/apt/lists/* "$R"/var/cache/apt/*.bin "$R"/var/log/*
`

// base is a minimal Debian.
func base(ctx context.Context, log *slog.Logger) (Root, error) {
	sum := sha256.Sum256([]byte(lean))
	dir, err := cache.Dir(fmt.Sprintf("debian-%s-%x", Suite, sum[:4]), func(dir string) error {
		mirror, err := Mirror(ctx)
		if err != nil {
			return err
		}
		log.Info("debootstrap", "suite", Suite, "why", "no minimal Debian in the cache")
		cmd := exec.CommandContext(ctx, "debootstrap", "--variant=minbase",
			"--include=ca-certificates", Suite, dir, mirror)
		if err := run(cmd); err != nil {
			return err
		}
		for _, name := range []string{"doc", "man", "info", "locale", "i18n", "lintian"} {
			if err := os.RemoveAll(filepath.Join(dir, "usr/share", name)); err != nil {
				return err
			}
		}
		return errors.Join(
			os.RemoveAll(filepath.Join(dir, "var/cache/apt/archives")),
			os.MkdirAll(filepath.Join(dir, "var/cache/apt/archives/partial"), 0o755),
			os.WriteFile(filepath.Join(dir, "etc/dpkg/dpkg.cfg.d/lean"), []byte(lean), 0o644),
		)
	})
	return Root(dir), err
}

// Root is the root of the recipe: it is made at the first call, which takes minutes, and must not
// be written to afterwards.
func (r Recipe) Root(ctx context.Context, log *slog.Logger) (Root, error) {
	dir, err := cache.Dir("debian-"+r.Version(), func(dir string) error {
		from, err := base(ctx, log)
		if err != nil {
			return err
		}
		began := time.Now()
		log.Info("make a root file system", "name", r.Name, "why", "none in the cache, takes minutes")
		if err := run(exec.CommandContext(ctx, "cp", "-a", string(from)+"/.", dir)); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "unshare", "--mount", "--propagation", "private", "sh", "-euc", install)
		cmd.Env = append(Environ(), "R="+dir, "PACKAGES="+strings.Join(r.Packages, " "),
			"UNPACKED="+strings.Join(r.Unpacked, " "), "FINISH="+r.Finish)
		err = run(cmd)
		log.Info("made a root file system", "name", r.Name, "seconds", int(time.Since(began).Seconds()))
		return err
	})
	return Root(dir), err
}

// Version names the recipe's content: a change of it is another name.
func (r Recipe) Version() string {
	text := strings.Join([]string{Suite, lean, install, strings.Join(r.Packages, " "), strings.Join(r.Unpacked, " "), r.Finish}, "\x00")
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s-%x", r.Name, sum[:4])
}

// Discard removes a root from the cache, of which something smaller has been made.
func (r Root) Discard() error { return os.RemoveAll(string(r)) }

// Environ is the environment of programs in a root.
func Environ() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
		"LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "PYTHONDONTWRITEBYTECODE=1"}
}

// enter runs a program inside. Directories of this machine that it needs are there at their own
// paths. Mount points below /tmp, /root, /run and /var/tmp are in memory: the root is not written to.
const enter = `
for dir in tmp root run var/tmp; do mount -t tmpfs tmpfs "$R/$dir"; done
mount -t proc proc "$R/proc"
mount --rbind /dev "$R/dev"
mount --rbind /sys "$R/sys"
for dir in $DIRS; do
	mkdir -p "$R$dir"
	mount --rbind "$dir" "$R$dir"
done
exec chroot "$R" "$@"
`

// Command is a program in the root, which sees these directories of this machine at the same paths.
// It is the process that the caller starts, in no namespace of its own but that of mounts.
func (r Root) Command(ctx context.Context, dirs []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "unshare",
		append([]string{"--mount", "--propagation", "private", "sh", "-euc", enter, "sh"}, args...)...)
	cmd.Env = append(Environ(), "R="+string(r), "DIRS="+strings.Join(dirs, " "))
	return cmd
}

// Run runs a program in the root to its end, which its output explains.
func (r Root) Run(ctx context.Context, dirs []string, args ...string) error {
	return run(r.Command(ctx, dirs, args...))
}

// run runs a command; the end of its output is part of the error only.
func run(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		const most = 4096
		end := out.Bytes()[max(0, out.Len()-most):]
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(end))
	}
	return nil
}

// Mirror is where this machine's own packages come from: every release is there.
func Mirror(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format",
		"$(REPO_URI) $(SUITE) $(COMPONENT)", "Created-By: Packages", "Origin: Debian").Output()
	if err != nil {
		return "", fmt.Errorf("ask apt for its mirror: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && !strings.Contains(f[0], "security") && f[2] == "main" {
			return f[0], nil
		}
	}
	return "", errors.New("ask apt for its mirror: none has main of Debian")
}
