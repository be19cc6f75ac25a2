package file

import (
	"fmt"
	"io/fs"
	"os"
)

// Tree are the files below dir, the / of a host, until done is called. Links are followed out of
// dir only if it is this host's own /. The error is fs.ErrNotExist if there is no such directory.
func Tree(dir string) (files fs.FS, done func(), err error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.IsDir():
		return nil, nil, fmt.Errorf("%s is no directory: %w", dir, fs.ErrNotExist)
	case dir == "/":
		return os.DirFS("/"), func() {}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	return root.FS(), func() { _ = root.Close() }, nil
}
