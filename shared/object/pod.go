package object

// Pod is one or more containers of one host.
type Pod struct {
	Head
	Spec PodSpec `json:"spec"`
}

// PodSpec is what a pod is. Pointers are fields of which "false" and nothing said are not the same.
type PodSpec struct {
	HostNetwork                   bool                `json:"hostNetwork,omitempty"`
	ShareProcessNamespace         *bool               `json:"shareProcessNamespace,omitempty"`
	DNSPolicy                     string              `json:"dnsPolicy,omitempty"`
	Tolerations                   []Toleration        `json:"tolerations,omitempty"`
	Priority                      *int32              `json:"priority,omitempty"`
	PriorityClassName             string              `json:"priorityClassName,omitempty"`
	TerminationGracePeriodSeconds *int64              `json:"terminationGracePeriodSeconds,omitempty"`
	AutomountServiceAccountToken  *bool               `json:"automountServiceAccountToken,omitempty"`
	EnableServiceLinks            *bool               `json:"enableServiceLinks,omitempty"`
	SecurityContext               *PodSecurityContext `json:"securityContext,omitempty"`
	Volumes                       []Volume            `json:"volumes,omitempty"`
	InitContainers                []Container         `json:"initContainers,omitempty"`
	Containers                    []Container         `json:"containers"`
}

// Toleration lets a pod stay on a host with a taint.
type Toleration struct {
	Operator string `json:"operator,omitempty"`
}

// PodSecurityContext is as whom a pod runs.
type PodSecurityContext struct {
	RunAsUser      *int64          `json:"runAsUser,omitempty"`
	RunAsGroup     *int64          `json:"runAsGroup,omitempty"`
	SeccompProfile *SeccompProfile `json:"seccompProfile,omitempty"`
	SELinuxOptions *SELinuxOptions `json:"seLinuxOptions,omitempty"`
}

// SeccompProfile names a filter of system calls.
type SeccompProfile struct {
	Type string `json:"type"`
}

// SELinuxOptions is the type of a process's label.
type SELinuxOptions struct {
	Type string `json:"type,omitempty"`
}

// Volume is a directory that containers mount. One of its sources is there.
type Volume struct {
	Name string `json:"name"`
	VolumeSource
}

// VolumeSource is where a directory comes from.
type VolumeSource struct {
	HostPath *HostPath `json:"hostPath,omitempty"`
	EmptyDir *EmptyDir `json:"emptyDir,omitempty"`
}

// HostPath is a directory of the host's.
type HostPath struct {
	Path string `json:"path"`
	Type string `json:"type,omitempty"`
}

// EmptyDir lives as long as the pod.
type EmptyDir struct {
	Medium    string `json:"medium,omitempty"`
	SizeLimit string `json:"sizeLimit,omitempty"`
}

// Container is one process of an image, and its children.
type Container struct {
	Name                     string           `json:"name"`
	Image                    string           `json:"image,omitempty"`
	ImagePullPolicy          string           `json:"imagePullPolicy,omitempty"`
	Command                  []string         `json:"command,omitempty"`
	TerminationMessagePolicy string           `json:"terminationMessagePolicy,omitempty"`
	Resources                *Resources       `json:"resources,omitempty"`
	SecurityContext          *SecurityContext `json:"securityContext,omitempty"`
	Ports                    []ContainerPort  `json:"ports,omitempty"`
	VolumeMounts             []VolumeMount    `json:"volumeMounts,omitempty"`
	StartupProbe             *Probe           `json:"startupProbe,omitempty"`
	LivenessProbe            *Probe           `json:"livenessProbe,omitempty"`
	ReadinessProbe           *Probe           `json:"readinessProbe,omitempty"`
}

// Resources are quantities by name, such as 100m of cpu.
type Resources struct {
	Requests map[string]string `json:"requests,omitempty"`
}

// SecurityContext is what a container may do.
type SecurityContext struct {
	AllowPrivilegeEscalation *bool         `json:"allowPrivilegeEscalation,omitempty"`
	ReadOnlyRootFilesystem   *bool         `json:"readOnlyRootFilesystem,omitempty"`
	Capabilities             *Capabilities `json:"capabilities,omitempty"`
}

// Capabilities are the kernel's, without CAP_.
type Capabilities struct {
	Add  []string `json:"add,omitempty"`
	Drop []string `json:"drop,omitempty"`
}

// ContainerPort is a port that a container claims.
type ContainerPort struct {
	Name          string `json:"name,omitempty"`
	HostPort      int32  `json:"hostPort,omitempty"`
	ContainerPort int32  `json:"containerPort"`
	Protocol      string `json:"protocol,omitempty"`
}

// VolumeMount puts a volume into a container.
type VolumeMount struct {
	Name             string `json:"name"`
	MountPath        string `json:"mountPath"`
	ReadOnly         bool   `json:"readOnly,omitempty"`
	MountPropagation string `json:"mountPropagation,omitempty"`
}

// Probe asks a container whether it works.
type Probe struct {
	HTTPGet                       *HTTPGet `json:"httpGet,omitempty"`
	PeriodSeconds                 int32    `json:"periodSeconds,omitempty"`
	TimeoutSeconds                int32    `json:"timeoutSeconds,omitempty"`
	FailureThreshold              int32    `json:"failureThreshold,omitempty"`
	SuccessThreshold              int32    `json:"successThreshold,omitempty"`
	TerminationGracePeriodSeconds *int64   `json:"terminationGracePeriodSeconds,omitempty"`
}

// HTTPGet is a request; 200 to 399 are good answers.
type HTTPGet struct {
	Host   string `json:"host,omitempty"`
	Path   string `json:"path,omitempty"`
	Port   int32  `json:"port"`
	Scheme string `json:"scheme,omitempty"`
}
