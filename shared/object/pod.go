package object

// Pod is one or more containers of one host.
type Pod struct {
	Head `yaml:",inline"`
	Spec PodSpec `yaml:"spec"`
}

// PodSpec specifies a pod. A field is a pointer if its zero value and its absence differ.
type PodSpec struct {
	Affinity                      *Affinity           `yaml:"affinity,omitempty"`
	AutomountServiceAccountToken  *bool               `yaml:"automountServiceAccountToken,omitempty"`
	Containers                    []Container         `yaml:"containers"`
	DNSPolicy                     string              `yaml:"dnsPolicy,omitempty"`
	EnableServiceLinks            *bool               `yaml:"enableServiceLinks,omitempty"`
	HostNetwork                   bool                `yaml:"hostNetwork,omitempty"`
	InitContainers                []Container         `yaml:"initContainers,omitempty"`
	Priority                      *int32              `yaml:"priority,omitempty"`
	PriorityClassName             string              `yaml:"priorityClassName,omitempty"`
	SecurityContext               *PodSecurityContext `yaml:"securityContext,omitempty"`
	ServiceAccountName            string              `yaml:"serviceAccountName,omitempty"`
	ShareProcessNamespace         *bool               `yaml:"shareProcessNamespace,omitempty"`
	TerminationGracePeriodSeconds *int64              `yaml:"terminationGracePeriodSeconds,omitempty"`
	Tolerations                   []Toleration        `yaml:"tolerations,omitempty"`
	Volumes                       []Volume            `yaml:"volumes,omitempty"`
}

// Affinity is where a pod may run.
type Affinity struct {
	NodeAffinity NodeAffinity `yaml:"nodeAffinity"`
}

// NodeAffinity is the nodes on which a pod may be started.
type NodeAffinity struct {
	Required NodeTerms `yaml:"requiredDuringSchedulingIgnoredDuringExecution"`
}

// NodeTerms are sets of nodes: one in any of them will do.
type NodeTerms struct {
	Terms []NodeTerm `yaml:"nodeSelectorTerms"`
}

// NodeTerm is the nodes whose labels are as all of these require.
type NodeTerm struct {
	MatchExpressions []Requirement `yaml:"matchExpressions"`
}

// Requirement is what a label has to be, such as "Exists".
type Requirement struct {
	Key      string `yaml:"key"`
	Operator string `yaml:"operator"`
}

// Toleration lets a pod stay on a host with a taint.
type Toleration struct {
	Effect            string `yaml:"effect,omitempty"`
	Key               string `yaml:"key,omitempty"`
	Operator          string `yaml:"operator,omitempty"`
	TolerationSeconds *int64 `yaml:"tolerationSeconds,omitempty"`
}

// PodSecurityContext is the user, group and labels of a pod.
type PodSecurityContext struct {
	FSGroup        *int64          `yaml:"fsGroup,omitempty"`
	RunAsGroup     *int64          `yaml:"runAsGroup,omitempty"`
	RunAsNonRoot   *bool           `yaml:"runAsNonRoot,omitempty"`
	RunAsUser      *int64          `yaml:"runAsUser,omitempty"`
	SELinuxOptions *SELinuxOptions `yaml:"seLinuxOptions,omitempty"`
	SeccompProfile *SeccompProfile `yaml:"seccompProfile,omitempty"`
}

// SeccompProfile names a filter of system calls.
type SeccompProfile struct {
	Type string `yaml:"type"`
}

// SELinuxOptions is the type of a process's label.
type SELinuxOptions struct {
	Type string `yaml:"type,omitempty"`
}

// Volume is a directory that containers mount, of one source.
type Volume struct {
	VolumeSource `yaml:",inline"`
	Name         string `yaml:"name"`
}

// VolumeSource is the source of a volume; one field is set.
type VolumeSource struct {
	ConfigMap *NamedSource  `yaml:"configMap,omitempty"`
	EmptyDir  *EmptyDir     `yaml:"emptyDir,omitempty"`
	HostPath  *HostPath     `yaml:"hostPath,omitempty"`
	Claim     *Claim        `yaml:"persistentVolumeClaim,omitempty"`
	Projected *Projected    `yaml:"projected,omitempty"`
	Secret    *SecretSource `yaml:"secret,omitempty"`
}

// NamedSource is a ConfigMap, as files of these items or of all.
type NamedSource struct {
	Items []Item `yaml:"items,omitempty"`
	Name  string `yaml:"name"`
}

// SecretSource is a Secret, as files of these items or of all. DefaultMode is that of the files.
type SecretSource struct {
	DefaultMode *int32 `yaml:"defaultMode,omitempty"`
	Items       []Item `yaml:"items,omitempty"`
	SecretName  string `yaml:"secretName"`
}

// Item is the file of a key.
type Item struct {
	Key  string `yaml:"key"`
	Path string `yaml:"path"`
}

// Claim is a PersistentVolumeClaim of the pod's namespace.
type Claim struct {
	ClaimName string `yaml:"claimName"`
}

// Projected is several sources in one directory.
type Projected struct {
	Sources []Projection `yaml:"sources"`
}

// Projection is one of them; one field is set.
type Projection struct {
	ConfigMap *NamedSource `yaml:"configMap,omitempty"`
	Token     *Token       `yaml:"serviceAccountToken,omitempty"`
}

// Token is a token of the pod's service account, which kubelet replaces before it ends.
type Token struct {
	ExpirationSeconds int64  `yaml:"expirationSeconds,omitempty"`
	Path              string `yaml:"path"`
}

// HostPath is a path on the host.
type HostPath struct {
	Path string `yaml:"path"`
	Type string `yaml:"type,omitempty"`
}

// EmptyDir exists as long as the pod.
type EmptyDir struct {
	Medium    string `yaml:"medium,omitempty"`
	SizeLimit string `yaml:"sizeLimit,omitempty"`
}

// Container runs one command of an image.
type Container struct {
	Command                  []string         `yaml:"command,omitempty"`
	Env                      []Variable       `yaml:"env,omitempty"`
	Image                    string           `yaml:"image,omitempty"`
	ImagePullPolicy          string           `yaml:"imagePullPolicy,omitempty"`
	LivenessProbe            *Probe           `yaml:"livenessProbe,omitempty"`
	Name                     string           `yaml:"name"`
	Ports                    []ContainerPort  `yaml:"ports,omitempty"`
	ReadinessProbe           *Probe           `yaml:"readinessProbe,omitempty"`
	Resources                *Resources       `yaml:"resources,omitempty"`
	SecurityContext          *SecurityContext `yaml:"securityContext,omitempty"`
	StartupProbe             *Probe           `yaml:"startupProbe,omitempty"`
	TerminationMessagePolicy string           `yaml:"terminationMessagePolicy,omitempty"`
	VolumeMounts             []VolumeMount    `yaml:"volumeMounts,omitempty"`
}

// Variable is a variable of the environment.
type Variable struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value,omitempty"`
}

// Resources are quantities by name, such as 100m of cpu.
type Resources struct {
	Requests map[string]string `yaml:"requests,omitempty"`
}

// SecurityContext is what a container may do.
type SecurityContext struct {
	AllowPrivilegeEscalation *bool         `yaml:"allowPrivilegeEscalation,omitempty"`
	Capabilities             *Capabilities `yaml:"capabilities,omitempty"`
	ReadOnlyRootFilesystem   *bool         `yaml:"readOnlyRootFilesystem,omitempty"`
}

// Capabilities are the kernel's, without CAP_.
type Capabilities struct {
	Add  []string `yaml:"add,omitempty"`
	Drop []string `yaml:"drop,omitempty"`
}

// ContainerPort is a port that a container claims.
type ContainerPort struct {
	ContainerPort int32  `yaml:"containerPort"`
	HostPort      int32  `yaml:"hostPort,omitempty"`
	Name          string `yaml:"name,omitempty"`
	Protocol      string `yaml:"protocol,omitempty"`
}

// VolumeMount puts a volume into a container.
type VolumeMount struct {
	MountPath        string `yaml:"mountPath"`
	MountPropagation string `yaml:"mountPropagation,omitempty"`
	Name             string `yaml:"name"`
	ReadOnly         bool   `yaml:"readOnly,omitempty"`
}

// Probe checks whether a container works.
type Probe struct {
	FailureThreshold              int32    `yaml:"failureThreshold,omitempty"`
	HTTPGet                       *HTTPGet `yaml:"httpGet,omitempty"`
	PeriodSeconds                 int32    `yaml:"periodSeconds,omitempty"`
	SuccessThreshold              int32    `yaml:"successThreshold,omitempty"`
	TerminationGracePeriodSeconds *int64   `yaml:"terminationGracePeriodSeconds,omitempty"`
	TimeoutSeconds                int32    `yaml:"timeoutSeconds,omitempty"`
}

// HTTPGet is a request; the statuses 200 to 399 pass.
type HTTPGet struct {
	Host   string `yaml:"host,omitempty"`
	Path   string `yaml:"path,omitempty"`
	Port   int32  `yaml:"port"`
	Scheme string `yaml:"scheme,omitempty"`
}
