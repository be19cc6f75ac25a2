package fakemetal3

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// Options are what a FAKE operator needs.
type Options struct {
	API       API
	Ironic    *Ironic
	Namespace string            // of the hosts and their Secrets
	Env       map[string]string // the variables of its Deployment
	Log       *slog.Logger
}

// Operator takes hosts through metal3's states. It keeps nothing but what the API and Ironic have.
type Operator struct {
	Options
	failed map[string]string // the last error of each host
}

// New makes one that does nothing yet.
func New(o Options) *Operator { return &Operator{o, map[string]string{}} }

// Finalizer keeps the object of a host until its disk is wiped.
const Finalizer = "baremetalhost.metal3.io"

// host is a BareMetalHost.
type host struct {
	Metadata struct {
		Name, UID         string
		Annotations       map[string]string
		Finalizers        []string
		DeletionTimestamp string
	}
	Spec struct {
		BMC struct {
			Address, CredentialsName       string
			DisableCertificateVerification bool
		}
		BootMACAddress, BootMode      string
		Online, ExternallyProvisioned bool
		RootDeviceHints               struct{ SerialNumber string }
		Image                         *struct{ URL, Checksum, ChecksumType, Format string }
		UserData                      struct{ Name string }
	}
	Status struct {
		PoweredOn    bool
		Provisioning struct{ State string }
	}
}

// every is the time between two looks at all hosts.
const every = 500 * time.Millisecond

// Run goes on until the context ends. What fails is noted in the host's status, and tried again.
func (o *Operator) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := o.round(ctx); err != nil && ctx.Err() == nil {
			o.Log.Info("FAKE operator", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

func (o *Operator) round(ctx context.Context) error {
	var list struct{ Items []host }
	if err := o.API.Do(ctx, http.MethodGet, o.path(""), nil, &list); err != nil {
		return err
	}
	nodes, err := o.Ironic.nodes(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range list.Items {
		if _, is := h.Metadata.Annotations[object.Paused]; is || h.Spec.ExternallyProvisioned {
			continue
		}
		if n, known := nodes[o.named(h)]; n.Locked == "" { // Ironic works on a locked one
			errs = append(errs, o.report(ctx, h, o.step(ctx, h, n, known)))
		}
	}
	return errors.Join(errs...)
}

// report notes a failure, once.
func (o *Operator) report(ctx context.Context, h host, failed error) error {
	name, text := h.Metadata.Name, ""
	if failed != nil {
		text = failed.Error()
	}
	if o.failed[name] == text {
		return nil
	}
	o.failed[name] = text
	status := fields{"errorMessage": text, "errorType": "", "operationalStatus": "OK"}
	if failed != nil {
		status["errorType"], status["operationalStatus"] = strings.TrimSuffix(h.Status.Provisioning.State, "ing")+" error", "error"
		o.Log.Info("FAKE operator", "host", name, "state", h.Status.Provisioning.State, "err", failed)
	}
	return errors.Join(failed, o.API.Do(ctx, http.MethodPatch, o.path(name)+"/status", fields{"status": status}, nil))
}

func (o *Operator) path(name string) string {
	return strings.TrimSuffix("/apis/metal3.io/v1alpha1/namespaces/"+o.Namespace+"/baremetalhosts/"+name, "/")
}

// named is what the operator calls the node of a host.
func (o *Operator) named(h host) string { return o.Namespace + "~" + h.Metadata.Name }

// to has a host go to a state.
func (o *Operator) to(ctx context.Context, h host, state string, on bool) error {
	o.Log.Info("FAKE operator", "host", h.Metadata.Name, "from", h.Status.Provisioning.State, "to", state)
	status := Transition(h.Status.Provisioning.State, state, on, time.Now())
	return o.API.Do(ctx, http.MethodPatch, o.path(h.Metadata.Name)+"/status", fields{"status": status}, nil)
}

// step does what is next for a host, by its state and by that of its node, and waits for nothing.
func (o *Operator) step(ctx context.Context, h host, n node, known bool) error {
	on := n.Power == "power on"
	if strings.HasSuffix(n.State, "failed") || n.State == "error" || n.Maintained {
		return fmt.Errorf("Ironic has it in the state %q: %s", n.State, n.Error)
	}
	switch state := h.Status.Provisioning.State; state {
	case "":
		if err := o.keep(ctx, h, true); err != nil {
			return err
		}
		return o.to(ctx, h, "registering", on)
	case "registering":
		return o.register(ctx, h, n, known)
	case "inspecting":
		switch {
		case n.State == "manageable" && n.Inspected != "":
			return o.to(ctx, h, "preparing", on)
		case n.State == "manageable":
			return o.Ironic.target(ctx, n, "inspect", nil)
		}
	case "preparing":
		switch {
		case n.State == "available":
			return o.to(ctx, h, "available", on)
		// Ironic ends an inspection before it knows where the ramdisk is reached.
		case n.State == "manageable" && n.Internal.Agent != "":
			return o.Ironic.target(ctx, n, "provide", nil)
		}
	case "available":
		switch {
		case h.Metadata.DeletionTimestamp != "":
			return o.to(ctx, h, "powering off before delete", on)
		case h.Spec.Image != nil:
			return o.to(ctx, h, "provisioning", on)
		case on && !h.Spec.Online:
			return o.off(ctx, n)
		}
	case "provisioning":
		switch n.State {
		case "available":
			return o.deploy(ctx, h, n)
		case "active":
			return o.to(ctx, h, "provisioned", on)
		}
	case "provisioned":
		if h.Spec.Image == nil || h.Metadata.DeletionTimestamp != "" {
			return o.to(ctx, h, "deprovisioning", on)
		}
	default:
		return o.remove(ctx, h, n, known)
	}
	if on != h.Status.PoweredOn {
		return o.to(ctx, h, h.Status.Provisioning.State, on)
	}
	return nil
}

// remove is step for a host that goes.
func (o *Operator) remove(ctx context.Context, h host, n node, known bool) error {
	on := n.Power == "power on"
	switch state := h.Status.Provisioning.State; state {
	case "deprovisioning":
		switch n.State {
		case "active":
			return o.Ironic.target(ctx, n, "deleted", nil)
		case "available":
			return o.to(ctx, h, "available", on)
		}
	case "powering off before delete":
		if on {
			return o.off(ctx, n)
		}
		return o.to(ctx, h, "deleting", on)
	case "deleting":
		switch {
		case !known:
			return o.keep(ctx, h, false)
		case n.State == "available":
			return o.Ironic.target(ctx, n, "manage", nil)
		case n.State == "manageable":
			return o.Ironic.do(ctx, http.MethodDelete, "nodes/"+n.UUID, nil, nil)
		}
	default:
		return fmt.Errorf("the FAKE operator knows no state %q", state)
	}
	return nil
}

// off has Ironic switch a host off.
func (o *Operator) off(ctx context.Context, n node) error {
	return o.Ironic.do(ctx, http.MethodPut, "nodes/"+n.UUID+"/states/power", fields{"target": "power off"}, nil)
}

// keep sets the finalizer of a host, or takes it away.
func (o *Operator) keep(ctx context.Context, h host, keep bool) error {
	rest := slices.DeleteFunc(slices.Clone(h.Metadata.Finalizers), func(f string) bool { return f == Finalizer })
	if keep {
		rest = append(rest, Finalizer)
	}
	return o.API.Do(ctx, http.MethodPatch, o.path(h.Metadata.Name), fields{"metadata": fields{"finalizers": rest}}, nil)
}

// register makes the node of a host with its port, and has Ironic log in to its BMC.
func (o *Operator) register(ctx context.Context, h host, n node, known bool) error {
	switch {
	case !known:
		return o.enroll(ctx, h)
	case n.State == "enroll":
		return o.Ironic.target(ctx, n, "manage", nil)
	case n.State == "manageable":
		return o.to(ctx, h, "inspecting", n.Power == "power on")
	}
	return nil
}

func (o *Operator) enroll(ctx context.Context, h host) error {
	account, err := o.secret(ctx, h.Spec.BMC.CredentialsName)
	if err != nil {
		return err
	}
	driver, info, err := access(h.Spec.BMC.Address, !h.Spec.BMC.DisableCertificateVerification, account["username"], account["password"])
	if err != nil {
		return err
	}
	info["deploy_kernel"], info["deploy_ramdisk"] = o.Env["DEPLOY_KERNEL_URL"], o.Env["DEPLOY_RAMDISK_URL"]
	mode := map[string]string{"legacy": "bios"}[h.Spec.BootMode]
	if mode == "" {
		mode = "uefi"
	}
	properties := fields{"capabilities": "boot_mode:" + mode, "cpu_arch": "x86_64"}
	if serial := h.Spec.RootDeviceHints.SerialNumber; serial != "" {
		properties["root_device"] = fields{"serial": "s== " + serial}
	}
	var made node
	if err := o.Ironic.do(ctx, http.MethodPost, "nodes", fields{"name": o.named(h), "driver": driver, "driver_info": info, "properties": properties,
		"boot_interface": "ipxe", "deploy_interface": "direct", "inspect_interface": "agent", "automated_clean": true}, &made); err != nil {
		return err
	}
	return o.Ironic.do(ctx, http.MethodPost, "ports", fields{"address": h.Spec.BootMACAddress, "node_uuid": made.UUID, "pxe_enabled": true}, nil)
}

// secret is the data of a Secret.
func (o *Operator) secret(ctx context.Context, name string) (map[string]string, error) {
	var s struct{ Data map[string]string }
	if err := o.API.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+o.Namespace+"/secrets/"+name, nil, &s); err != nil {
		return nil, fmt.Errorf("the Secret %s: %w", name, err)
	}
	for key, value := range s.Data {
		text, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return nil, err
		}
		s.Data[key] = string(text)
	}
	return s.Data, nil
}

// deploy has Ironic write the image, and the config drive with the host's document.
func (o *Operator) deploy(ctx context.Context, h host, n node) error {
	document, err := o.secret(ctx, h.Spec.UserData.Name)
	if err != nil {
		return err
	}
	image := h.Spec.Image
	if err := o.Ironic.do(ctx, http.MethodPatch, "nodes/"+n.UUID, []fields{{"op": "add", "path": "/instance_info", "value": fields{
		"image_source": image.URL, "image_os_hash_algo": image.ChecksumType, "image_os_hash_value": image.Checksum, "image_disk_format": image.Format,
		"image_type": "whole-disk"}}}, nil); err != nil {
		return err
	}
	name := h.Metadata.Name
	return o.Ironic.target(ctx, n, "active", fields{"configdrive": fields{"user_data": document["userData"], "network_data": fields{},
		"meta_data": fields{"uuid": h.Metadata.UID, "name": name, "local-hostname": name, "metal3-namespace": o.Namespace, "metal3-name": name}}})
}
