package object

// Pod is one or more containers of one host.
type Pod struct {
	Head `yaml:",inline"`
	Spec PodSpec `yaml:"spec"`
}

// PodSpec specifies a pod. A field is a pointer if its zero value and its absence differ.
type PodSpec struct {
	AutomountServiceAccountToken  *bool               `yaml:"automountServiceAccountToken,omitempty"`
	Containers                    []Container         `yaml:"containers"`
	DNSPolicy                     string              `yaml:"dnsPolicy,omitempty"`
	EnableServiceLinks            *bool               `yaml:"enableServiceLinks,omitempty"`
	HostNetwork                   bool                `yaml:"hostNetwork,omitempty"`
	InitContainers                []Container         `yaml:"initContainers,omitempty"`
	Priority                      *int32              `yaml:"priority,omitempty"`
	PriorityClassName             string              `yaml:"priorityClassName,omitempty"`
	SecurityContext               *PodSecurityContext `yaml:"securityContext,omitempty"`
	ShareProcessNamespace         *bool               `yaml:"shareProcessNamespace,omitempty"`
	TerminationGracePeriodSeconds *int64              `yaml:"terminationGracePeriodSeconds,omitempty"`
	Tolerations                   []Toleration        `yaml:"tolerations,omitempty"`
	Volumes                       []Volume            `yaml:"volumes,omitempty"`
}

// Toleration lets a pod stay on a host with a taint.
type Toleration struct {
	Operator string `yaml:"operator,omitempty"`
}

// PodSecurityContext is the user, group and labels of a pod.
type PodSecurityContext struct {
	RunAsGroup     *int64          `yaml:"runAsGroup,omitempty"`
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
	EmptyDir *EmptyDir `yaml:"emptyDir,omitempty"`
	HostPath *HostPath `yaml:"hostPath,omitempty"`
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
