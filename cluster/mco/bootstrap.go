package mco

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/mco/static"
	"github.com/onprem-infra/onprem-infra/cluster/mco/theirs"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// bootstrapManifests adds the four files that the operator's bootstrap command knows by name. It
// puts two where the bootstrap machine's kubelet reads manifests, and two where their pods read
// resources. The latter are cluster.json; with a user-managed balancer there is only CoreDNS's. The
// command has other names for the images of the pods. list is a plan for each situation.
func bootstrapManifests(b *asset.Builder, list []plan.Plan) {
	p, fields := list[0], bootstrapFields()
	for _, s := range static.Bootstrap(p) {
		manifest := inSpec().Replace(text(pod.Render(s)))
		b.File("/manifests/"+theirs.Layer+"/"+s.Name+".yaml", 0o644, []byte(manifest))
	}
	if by := list[len(list)-1]; by.BGP != nil {
		routedManifests(b, by)
		fields = withoutNetworks(fields)
	}
	json := inController(clusterJSON(plan.Encode(p), fields))
	for _, name := range []string{"keepalived.conf.tmpl", "coredns-corefile.tmpl"} {
		b.File("/manifests/"+theirs.Layer+"/"+name, 0o644, []byte(json))
	}
}

// inSpec replaces expressions of a node's templates by those of the bootstrap command's.
func inSpec() *strings.Replacer {
	return strings.NewReplacer(
		"onPremPlatformShortName .", "onPremPlatformShortName .ControllerConfig",
		"{{ .Images."+spec.KeepalivedImage, "{{ .Images.KeepalivedBootstrap",
		"{{ .Images."+spec.CoreDNSImage, "{{ .Images.CorednsBootstrap",
		"{{ .Images."+spec.RuntimeCfgImage, "{{ .Images.BaremetalRuntimeCfgBootstrap",
		"{{ .Images."+nameOf(spec.FRRImage), "{{ .Images.FRRK8sBootstrap")
}

// inController makes a text's expressions refer to the fields of the ControllerConfig.
func inController(json string) string {
	return "{{ with .ControllerConfig -}}\n" + json + "{{ end -}}\n"
}
