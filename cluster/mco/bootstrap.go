package mco

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/mco/static"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// bootstrapManifests adds the four files that the operator's bootstrap command knows by name. It
// puts two where the bootstrap machine's kubelet reads manifests, and two where their pods read
// resources. The latter are cluster.json; with a user-managed balancer there is only CoreDNS's. The
// command has other names for the images of the pods.
func bootstrapManifests(b *asset.Builder, p plan.Plan) {
	inSpec := strings.NewReplacer(
		"onPremPlatformShortName .", "onPremPlatformShortName .ControllerConfig",
		"{{ .Images."+spec.KeepalivedImage, "{{ .Images.KeepalivedBootstrap",
		"{{ .Images."+spec.CoreDNSImage, "{{ .Images.CorednsBootstrap",
		"{{ .Images."+spec.RuntimeCfgImage, "{{ .Images.BaremetalRuntimeCfgBootstrap")
	for _, s := range static.Bootstrap(p) {
		manifest := inSpec.Replace(text(pod.Render(s)))
		b.File("/manifests/"+layer+"/"+s.Name+".yaml", 0o644, []byte(manifest))
	}
	json := "{{ with .ControllerConfig -}}\n" +
		clusterJSON(plan.Encode(p), bootstrapFields()) + "{{ end -}}\n"
	for _, name := range []string{"keepalived.conf.tmpl", "coredns-corefile.tmpl"} {
		b.File("/manifests/"+layer+"/"+name, 0o644, []byte(json))
	}
}
