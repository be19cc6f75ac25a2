package verify

import (
	"strings"
	"testing"
)

// TestJoining holds which documents hosts can join by, and that an error has no text of one.
func TestJoining(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"Ignition":               {`{"ignition":{"version":"3.4.0"}}`, ""},
		"Ignition of a future":   {`{"ignition":{"version":"9.0.0"}}`, "its version is not one of"},
		"cloud-config":           {"#cloud-config\nruncmd: [kubeadm join --token s3cret]\n", ""},
		"a script":               {"\n#!/bin/sh\nkubeadm join\n", ""},
		"parts":                  {"Content-Type: multipart/mixed; boundary=x\n", ""},
		"nothing":                {" \n", "it is empty"},
		"a command":              {"kubeadm join 192.0.2.5:6443 --token s3cret", "neither an Ignition document nor user data of cloud-init"},
		"longer than the API's":  {"#!/bin/sh\n" + strings.Repeat("#", mostJoining), "longer than"},
		"a manifest by accident": {"apiVersion: v1\n", "neither"},
	} {
		err := Joining([]byte(tt.text))
		if got := ""; err != nil {
			got = err.Error()
			if tt.want == "" || !strings.Contains(got, tt.want) || strings.Contains(got, "s3cret") {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
		} else if tt.want != "" {
			t.Errorf("%s: no error, want %q", name, tt.want)
		}
	}
}
