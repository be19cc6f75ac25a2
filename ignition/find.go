package ignition

import (
	"encoding/json"
	"fmt"

	"github.com/vincent-petithory/dataurl"
	"go.yaml.in/yaml/v3"
)

// stored is the files of a document, in any format that we write.
type stored struct {
	Storage struct{ Files []storedFile }
	Spec    struct{ Config *stored } // of a MachineConfig
}

type storedFile struct {
	Path     string
	Contents struct {
		Inline              *string // of a Butane config
		Source, Compression string
	}
}

// Find returns the file at a path in an Ignition document of any version 3, a MachineConfig or a
// Butane config. Found is false if there is no such file, or it is no such document. Compressed or
// remote contents, which we do not write, are an error.
func Find(document []byte, path string) (contents []byte, found bool, err error) {
	var d stored
	if json.Unmarshal(document, &d) != nil { // not all JSON is YAML, such as a DEL
		if d = (stored{}); yaml.Unmarshal(document, &d) != nil {
			return nil, false, nil
		}
	}
	if d.Spec.Config != nil {
		d = *d.Spec.Config
	}
	for _, f := range d.Storage.Files {
		if f.Path != path {
			continue
		}
		if f.Contents.Inline != nil {
			return []byte(*f.Contents.Inline), true, nil
		}
		if f.Contents.Source == "" || f.Contents.Compression != "" {
			return nil, false, fmt.Errorf(
				"read %s in a document: its contents are compressed or absent", path,
			)
		}
		data, err := dataurl.DecodeString(f.Contents.Source)
		if err != nil {
			return nil, false, fmt.Errorf("read %s in a document: %w", path, err)
		}
		return data.Data, true, nil
	}
	return nil, false, nil
}
