package kubeconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// ServiceAccount is where a pod has the token of its account, and the CA of the API
// (kubernetes.io/docs/tasks/run-application/access-api-from-pod).
const ServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

var errNoPod = errors.New("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: run " +
	"this program in a pod, or name a kubeconfig")

// WriteInPod writes a kubeconfig for the service account of the pod in which this program runs. It
// has no secret: it names the file of the token, which kubelet replaces.
func WriteInPod(to string) error {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return errNoPod
	}
	type object = map[string]any
	const name = "pod"
	text, err := json.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []object{{"name": name, "cluster": object{
			"server":                "https://" + net.JoinHostPort(host, port),
			"certificate-authority": path.Join(ServiceAccount, "ca.crt")}}},
		"users": []object{{"name": name, "user": object{
			"tokenFile": path.Join(ServiceAccount, "token")}}},
		"contexts": []object{{"name": name, "context": object{"cluster": name, "user": name}}},
	})
	if err != nil {
		return fmt.Errorf("write the pod's kubeconfig: %w", err)
	}
	return file.Write(to, text, 0o600)
}
