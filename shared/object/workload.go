package object

// API versions of what runs in a cluster.
const (
	Apps       = "apps/v1"
	Networking = "networking.k8s.io/v1"
)

// ServiceAccount is what a pod is known by in the API. Its token is in a pod only where a container
// asks for it.
type ServiceAccount struct {
	Head           `yaml:",inline"`
	AutomountToken *bool `yaml:"automountServiceAccountToken,omitempty"`
}

// Service is one address for the ready pods of a selector.
type Service struct {
	Head `yaml:",inline"`
	Spec ServiceSpec `yaml:"spec"`
}

// ServiceSpec selects pods, and the ports that are balanced among them.
type ServiceSpec struct {
	Ports    []ServicePort     `yaml:"ports"`
	Selector map[string]string `yaml:"selector"`
}

// ServicePort is a port of a Service, and that of its pods.
type ServicePort struct {
	Name       string `yaml:"name"`
	Port       int32  `yaml:"port"`
	Protocol   string `yaml:"protocol"`
	TargetPort int32  `yaml:"targetPort"`
}

// Deployment keeps pods of a template running.
type Deployment struct {
	Head `yaml:",inline"`
	Spec DeploymentSpec `yaml:"spec"`
}

// DeploymentSpec is how many pods there are, and how a new template replaces an old one.
type DeploymentSpec struct {
	Replicas *int32      `yaml:"replicas,omitempty"`
	Selector Selector    `yaml:"selector"`
	Strategy Strategy    `yaml:"strategy"`
	Template PodTemplate `yaml:"template"`
}

// Selector selects pods by their labels; an empty one selects all.
type Selector struct {
	MatchLabels map[string]string `yaml:"matchLabels,omitempty"`
}

// Strategy is Recreate: the old pod ends before a new one starts.
type Strategy struct {
	Type string `yaml:"type"`
}

// PodTemplate is a pod without a name.
type PodTemplate struct {
	Metadata Meta    `yaml:"metadata"`
	Spec     PodSpec `yaml:"spec"`
}

// NetworkPolicy is what the selected pods may receive and send: nothing of PolicyTypes but what is
// listed.
type NetworkPolicy struct {
	Head `yaml:",inline"`
	Spec NetworkPolicySpec `yaml:"spec"`
}

// NetworkPolicySpec has the rules for pods.
type NetworkPolicySpec struct {
	Egress      []Egress `yaml:"egress,omitempty"`
	PodSelector Selector `yaml:"podSelector"`
	PolicyTypes []string `yaml:"policyTypes"`
}

// Egress allows connections to ports, of any address.
type Egress struct {
	Ports []PolicyPort `yaml:"ports"`
}

// PolicyPort is one port.
type PolicyPort struct {
	Port     int32  `yaml:"port"`
	Protocol string `yaml:"protocol"`
}
