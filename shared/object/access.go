package object

// API versions, for heads.
const (
	Core = "v1"
	RBAC = "rbac.authorization.k8s.io/v1"
)

// The groups of the API, as rights name them.
const (
	CoreGroup      = ""
	RBACGroup      = "rbac.authorization.k8s.io"
	DiscoveryGroup = "discovery.k8s.io"
	Metal3Group    = "metal3.io"
	LeaseGroup     = "coordination.k8s.io"
)

// Namespace holds objects of one purpose.
type Namespace struct {
	Head `yaml:",inline"`
}

// Role is a list of rights: of kind Role in a namespace, of kind ClusterRole everywhere.
type Role struct {
	Head  `yaml:",inline"`
	Rules []Rule `yaml:"rules"`
}

// Rule allows Verbs on Resources; with ResourceNames, on those alone.
type Rule struct {
	APIGroups     []string `yaml:"apiGroups"`
	ResourceNames []string `yaml:"resourceNames,omitempty"`
	Resources     []string `yaml:"resources"`
	Verbs         []string `yaml:"verbs"`
}

// Binding gives the rights of a role to subjects: of kind RoleBinding in a namespace, of kind
// ClusterRoleBinding everywhere.
type Binding struct {
	Head     `yaml:",inline"`
	RoleRef  RoleRef   `yaml:"roleRef"`
	Subjects []Subject `yaml:"subjects"`
}

// Subject is what gets rights, such as a Group of users.
type Subject struct {
	APIGroup  string `yaml:"apiGroup,omitempty"` // empty for a ServiceAccount
	Kind      string `yaml:"kind"`
	Name      string `yaml:"name"`
	Namespace string `yaml:"namespace,omitempty"`
}

// RoleRef names a role.
type RoleRef struct {
	APIGroup string `yaml:"apiGroup"`
	Kind     string `yaml:"kind"`
	Name     string `yaml:"name"`
}
