module github.com/metal3-io/ironic-standalone-operator/api

go 1.26.0

require k8s.io/apimachinery v0.35.6
