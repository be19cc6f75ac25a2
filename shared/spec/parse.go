package spec

// Parse reads an install-config or a cluster.yaml. Name is what findings call the file. It returns every finding at once, sorted; the
// Cluster is the zero value when one of them is an error.
func Parse(name string, text []byte, knobs Knobs) (Cluster, Findings) {
	return Cluster{}, Findings{{File: name, Line: 1, Column: 1, Severity: Error, Path: "document", Text: "cannot be read yet"}}
}
