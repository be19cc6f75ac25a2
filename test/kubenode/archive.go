package kubenode

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// Image is a container image made of files of this machine.
type Image struct {
	Tree       map[string]string // path in the image -> file of this machine
	Entrypoint []string
}

// archive writes the images as `docker save` does: what `ctr images import` reads.
func archive(out io.Writer, images map[string]Image) error {
	w := tar.NewWriter(out)
	var list []map[string]any
	for i, name := range sorted(images) {
		layer, err := layer(images[name].Tree)
		if err != nil {
			return fmt.Errorf("image %s: %w", name, err)
		}
		config, err := json.Marshal(map[string]any{
			"architecture": "amd64", "os": "linux",
			"config": map[string]any{"Entrypoint": images[name].Entrypoint, "Env": []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}},
			"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
		})
		if err != nil {
			return err
		}
		files := map[string][]byte{fmt.Sprintf("%x.json", sha256.Sum256(config)): config, fmt.Sprintf("layer%d.tar", i): layer}
		entry := map[string]any{"RepoTags": []string{name}}
		for _, file := range sorted(files) {
			if strings.HasSuffix(file, ".json") {
				entry["Config"] = file
			} else {
				entry["Layers"] = []string{file}
			}
			if err := add(w, file, 0o644, files[file]); err != nil {
				return err
			}
		}
		list = append(list, entry)
	}
	manifest, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := add(w, "manifest.json", 0o644, manifest); err != nil {
		return err
	}
	return w.Close()
}

// layer is a tree as one layer. Symbolic links of this machine become the files that they point to.
func layer(tree map[string]string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	made := map[string]bool{}
	for _, dir := range []string{"etc", "run", "tmp", "var"} {
		if err := parents(w, made, dir+"/any"); err != nil {
			return nil, err
		}
	}
	for _, name := range sorted(tree) {
		if err := parents(w, made, name); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(tree[name])
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(tree[name])
		if err != nil {
			return nil, err
		}
		if err := add(w, name, info.Mode().Perm(), content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}

// parents makes the directories above a file.
func parents(w *tar.Writer, made map[string]bool, name string) error {
	dir := path.Dir(name)
	if dir == "." || made[dir] {
		return nil
	}
	if err := parents(w, made, dir); err != nil {
		return err
	}
	made[dir] = true
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755})
}

func add(w *tar.Writer, name string, mode os.FileMode, content []byte) error {
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
