package ignition

import (
	"encoding/json"
	"fmt"

	"github.com/vincent-petithory/dataurl"
)

// Find returns what an Ignition document of any version 3 holds at a path; found is false when it holds nothing there, or is no such document. Contents
// that Encode would not write, compressed or elsewhere, are an error.
func Find(document []byte, path string) (contents []byte, found bool, err error) {
	var config struct {
		Storage struct {
			Files []struct {
				Path     string
				Contents struct{ Source, Compression string }
			}
		}
	}
	if json.Unmarshal(document, &config) != nil {
		return nil, false, nil
	}
	for _, f := range config.Storage.Files {
		if f.Path != path {
			continue
		}
		if f.Contents.Source == "" || f.Contents.Compression != "" {
			return nil, false, fmt.Errorf("read %s in an Ignition document: its contents are compressed or absent", path)
		}
		data, err := dataurl.DecodeString(f.Contents.Source)
		if err != nil {
			return nil, false, fmt.Errorf("read %s in an Ignition document: %w", path, err)
		}
		return data.Data, true, nil
	}
	return nil, false, nil
}
