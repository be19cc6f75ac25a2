package registry

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// The media types of an image of one layer (OCI image specification).
const (
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// The files of an image in a directory.
const (
	manifestFile = "manifest.json"
	configFile   = "config.json"
	layerFile    = "layer.tar.gz"
)

// object is a JSON object.
type object = map[string]any

// MakeImage makes an image of a root file system and of more files at its top, as files of a
// directory: its first use in a registry is as quick as any other.
func MakeImage(ctx context.Context, root, dir string, more ...string) error {
	f, err := os.Create(filepath.Join(dir, layerFile))
	if err != nil {
		return err
	}
	defer f.Close()
	packed, content := sha256.New(), sha256.New()
	zip, err := gzip.NewWriterLevel(io.MultiWriter(f, packed), gzip.BestSpeed)
	if err != nil {
		return err
	}
	args := []string{"--numeric-owner", "--exclude=./dev", "--exclude=./proc", "--exclude=./sys", "-c", "-C", root, "."}
	for _, file := range more {
		args = append(args, "-C", filepath.Dir(file), "./"+filepath.Base(file))
	}
	cmd := exec.CommandContext(ctx, "tar", args...)
	cmd.Stdout = io.MultiWriter(zip, content)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("archive %s: %w", root, err)
	}
	if err := errors.Join(zip.Close(), f.Close()); err != nil {
		return err
	}
	info, err := os.Stat(f.Name())
	if err != nil {
		return err
	}
	config, _ := json.Marshal(object{"architecture": "amd64", "os": "linux", "config": object{},
		"rootfs": object{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", content.Sum(nil))}}})
	manifest, _ := json.Marshal(object{"schemaVersion": 2, "mediaType": typeManifest,
		"config": object{"mediaType": typeConfig, "size": len(config), "digest": digest(config)},
		"layers": []object{{"mediaType": typeLayer, "size": info.Size(), "digest": fmt.Sprintf("sha256:%x", packed.Sum(nil))}}})
	return errors.Join(os.WriteFile(filepath.Join(dir, configFile), config, 0o644),
		os.WriteFile(filepath.Join(dir, manifestFile), manifest, 0o644))
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// Add has the registry serve an image of MakeImage under a name, and returns its digest. The
// registry may run.
func (r *Registry) Add(name, dir string) (string, error) {
	manifest, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return "", err
	}
	var of struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal(manifest, &of); err != nil || len(of.Layers) != 1 {
		return "", fmt.Errorf("%s has no manifest with one layer: %v", dir, err)
	}
	store, whole := r.path("storage/docker/registry/v2"), digest(manifest)
	repository := filepath.Join(store, "repositories", name)
	var errs []error
	for file, sum := range map[string]string{manifestFile: whole, configFile: of.Config.Digest, layerFile: of.Layers[0].Digest} {
		hex := sum[len("sha256:"):]
		links := filepath.Join(repository, "_layers")
		if file == manifestFile {
			links = filepath.Join(repository, "_manifests/revisions")
		}
		errs = append(errs, place(filepath.Join(links, "sha256", hex, "link"), func(to string) error {
			return os.WriteFile(to, []byte(sum), 0o600)
		}), place(filepath.Join(store, "blobs/sha256", hex[:2], hex, "data"), func(to string) error {
			return exec.Command("cp", "--reflink=auto", filepath.Join(dir, file), to).Run()
		}))
	}
	return whole, errors.Join(errs...)
}

func place(path string, write func(to string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return write(path)
}
