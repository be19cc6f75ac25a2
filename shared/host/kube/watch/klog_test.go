package watch

import (
	"errors"
	"log/slog"
	"testing"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
)

// Without a logger of ours client-go would log to stderr that it cannot read a token or a
// certificate again.
func TestClientGoIsSilent(t *testing.T) {
	defer silent(t)()
	kubeconfig.NewAccess("", slog.New(slog.DiscardHandler))
	klog.TODO().Error(errors.New("no such file"), "Unable to rotate token")
	klog.Warning("a warning")
	runtime.HandleError(errors.New("key failed"))
	klog.Flush()
}
