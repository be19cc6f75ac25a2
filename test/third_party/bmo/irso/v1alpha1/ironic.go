// Package v1alpha1 has the names of Ironic's operator's API that metal3's operator is compiled with. An
// operator that is told of no Ironic object, by IRONIC_NAME, uses none of them.
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// IronicStatusReady is the type of a condition.
const IronicStatusReady = "Ready"

// AddToScheme makes the types known.
func AddToScheme(scheme *runtime.Scheme) error {
	group := schema.GroupVersion{Group: "ironic.metal3.io", Version: "v1alpha1"}
	scheme.AddKnownTypes(group, &Ironic{}, &IronicList{})
	metav1.AddToGroupVersion(scheme, group)
	return nil
}

// Ironic is an Ironic that its operator runs.
type Ironic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		APICredentialsName string `json:"apiCredentialsName,omitempty"`
		TLS                struct {
			CertificateName string `json:"certificateName,omitempty"`
		} `json:"tls,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

// DeepCopyObject is a copy.
func (i *Ironic) DeepCopyObject() runtime.Object {
	one := *i
	one.ObjectMeta = *i.ObjectMeta.DeepCopy()
	one.Status.Conditions = nil
	for _, c := range i.Status.Conditions {
		one.Status.Conditions = append(one.Status.Conditions, *c.DeepCopy())
	}
	return &one
}

// IronicList is a list of them.
type IronicList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Ironic `json:"items"`
}

// DeepCopyObject is a copy.
func (l *IronicList) DeepCopyObject() runtime.Object {
	list := IronicList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for _, i := range l.Items {
		list.Items = append(list.Items, *i.DeepCopyObject().(*Ironic))
	}
	return &list
}
