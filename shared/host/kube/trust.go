package kube

// Trust is what the kubeconfig holds an API server's certificate against, for those who ask by
// other means than Client: the CA's certificates as PEM, empty when it trusts anybody, and the name
// or address that the certificate must have.
func (a *Access) Trust() (ca []byte, name string, err error) {
	_, config, err := a.load()
	if err != nil {
		return nil, "", err
	}
	return config.CAData, config.ServerName, nil
}
