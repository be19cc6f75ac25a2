package chain

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/onprem-infra/onprem-infra/test/vm"
)

// OwnImageSource is our image as a machine's container storage takes it.
func OwnImageSource() (vm.Image, error) {
	source, err := Source()
	return vm.Image{Name: ownImage, Context: source}, err
}

// CompileRole has our program make the Ignition document of a role's hosts from a cluster.yaml,
// with the images of NodeImages and further flags.
func (c *Chain) CompileRole(ctx context.Context, role string, cluster []byte, more ...string) ([]byte, error) {
	flags, err := c.inputs(cluster)
	if err != nil {
		return nil, err
	}
	return c.ours(ctx, append(append([]string{"ignition", "--role=" + role}, flags...), more...)...)
}

// RenderRole writes, from a cluster.yaml, what a role has as a tree below dir.
func (c *Chain) RenderRole(ctx context.Context, role string, cluster []byte, dir string) error {
	flags, err := c.inputs(cluster)
	if err != nil {
		return err
	}
	_, err = c.ours(ctx, append([]string{"render", "--role=" + role, "--out", dir}, flags...)...)
	return err
}

// inputs are the flags of a verb that compiles a cluster.yaml.
func (c *Chain) inputs(cluster []byte) ([]string, error) {
	images, err := json.Marshal(map[string]string{
		"keepalivedImage": keepalivedImage, "haproxyImage": haproxyImage, "corednsImage": corednsImage, "baremetalRuntimeCfgImage": ownImage,
		"frrImage": FRRImage,
	})
	if err != nil {
		return nil, err
	}
	file, list := c.file("cluster.yaml"), c.file("node-images.json")
	return []string{"-c", file, "--images", list}, errors.Join(os.WriteFile(file, cluster, 0o644), os.WriteFile(list, images, 0o644))
}
