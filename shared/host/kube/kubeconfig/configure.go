package kubeconfig

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// load reads a kubeconfig and makes the paths in it absolute.
func load(path string) (*api.Config, error) {
	file, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, err
	}
	return file, clientcmd.ResolveLocalPaths(file)
}

// Files are the paths that a kubeconfig names for its current context: of the CA, of the client's
// certificate and key, and of a token. None of the files need exist.
func Files(path string) ([]string, error) {
	config, err := load(path)
	if err != nil {
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
	files = slices.Compact(files)
	return slices.DeleteFunc(files, func(path string) bool { return path == "" }), nil
}

func configure(path string) (*rest.Config, error) {
	file, err := load(path)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.NewDefaultClientConfig(*file, &clientcmd.ConfigOverrides{}).
		ClientConfig()
	if err != nil {
		return nil, err
	}
	if config.Host == "" {
		return nil, errors.New("it names no server")
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	if config.ServerName == "" {
		config.ServerName = server.Hostname()
	}
	if config.Proxy == nil {
		// The environment's proxy is for image registries; this API is on the local host or its
		// network.
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	return config, nil
}

// readFiles replaces the files that a configuration names by their content, and returns the
// content by path. client-go would read them every five minutes: too late if a server's certificate
// is replaced with its CA.
func readFiles(config *rest.Config) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, f := range []struct {
		what string
		path *string
		data *[]byte
	}{
		{"CA", &config.CAFile, &config.CAData},
		{"client certificate", &config.CertFile, &config.CertData},
		{"client key", &config.KeyFile, &config.KeyData},
	} {
		if *f.path == "" {
			continue
		}
		text, err := os.ReadFile(*f.path)
		if err != nil {
			return nil, fmt.Errorf("its %s: %w", f.what, err)
		}
		files[*f.path] = text
		if len(*f.data) == 0 { // data in the kubeconfig itself takes precedence
			*f.data = text
		}
		*f.path = ""
	}
	return files, nil
}
