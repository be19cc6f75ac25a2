package object

// Secret is small data that few may read, each in base64.
type Secret struct {
	Head `yaml:",inline"`
	Data map[string]string `yaml:"data"`
}

// ConfigMap is small data that all may read.
type ConfigMap struct {
	Head `yaml:",inline"`
	Data map[string]string `yaml:"data"`
}
