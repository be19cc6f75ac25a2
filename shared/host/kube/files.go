package kube

import (
	"slices"

	"k8s.io/client-go/tools/clientcmd"
)

// Files are the paths that a kubeconfig names for its current context: of the CA, of the client's
// certificate and key, and of a token. None of them need be there.
func Files(kubeconfig string) ([]string, error) {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return nil, err
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return nil, err
	}
	var files []string
	if current := config.Contexts[config.CurrentContext]; current != nil {
		if c := config.Clusters[current.Cluster]; c != nil {
			files = append(files, c.CertificateAuthority)
		}
		if u := config.AuthInfos[current.AuthInfo]; u != nil {
			files = append(files, u.ClientCertificate, u.ClientKey, u.TokenFile)
		}
	}
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(path string) bool { return path == "" }), nil
}
