# Targets for people and CI; `make help` lists them. What a target needs beside git, make and Go it installs itself (test/setup).

GO := go
# podman's bindings without the libraries that only a local engine needs.
TAGS := -tags remote
IMAGE := localhost/onprem-infra
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo latest)
REVISION = $(shell git rev-parse HEAD 2>/dev/null)
# Times in the image are the commit's, so that it is the same whenever it is built.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
# A module of its own: programs that import the project do not depend on CoreDNS.
COREDNS := cmd/onprem-coredns
# Where what has been built is, and where it is installed; DESTDIR is put before that, for who makes a package of it.
BIN := bin
PREFIX ?= /usr/local
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GREMLINS := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
# Rooms whose results depend on their arguments alone: any change of them is a test's to notice. With /... those below too.
PURE := $(addprefix shared/,vrrp/... plan/... spec/... bgp/... speak keepalived corefile election release bonus health addr/... \
	mac bmc rootdisk $(addprefix provisioning/,access arch artifact bootlog cause events foreign hostfile ironic ledger node orders progress served)) \
	bootstrap/provision/machine cluster/haproxy

export CGO_ENABLED := 0
# Hosts of a cluster may be older than this machine.
export GOAMD64 := v1

.DEFAULT_GOAL := help
.PHONY: help build man install check test fresh daemons fuzz race scars demo bench soak e2e image tools setup built

help: ## print what can be made
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: tools ## the programs, static, in bin: onprem-infra, -supervise, -speak, -coredns; sbom.json
	$(GO) build $(TAGS) -trimpath -ldflags '-s -w' -o bin/ ./cmd/onprem-infra ./cmd/onprem-supervise ./cmd/onprem-speak
	$(GO) build -C $(COREDNS) -trimpath -ldflags '-s -w' -o $(CURDIR)/bin/ .
	cd bin && sha256sum onprem-infra onprem-supervise onprem-speak | sed 's,  ,&/usr/bin/,' >sha256
	$(GO) run ./cmd/onprem-sbom bin/onprem-coredns bin/onprem-infra bin/onprem-speak bin/onprem-supervise >bin/sbom.json.new && mv bin/sbom.json.new bin/sbom.json

man: built ## the manual pages, in bin/man, of what has been built
	$(BIN)/onprem-infra man --out $(BIN)/man/man1

built:
	@test -x $(BIN)/onprem-infra || { echo "make: there is no $(BIN)/onprem-infra yet: make build" >&2; exit 1; }

# It builds nothing, so that root needs no Go: make build first.
install: built ## what has been built, its manual pages and completion, below PREFIX (/usr/local)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin $(addprefix share/,bash-completion/completions zsh/site-functions fish/vendor_completions.d))
	install -m 0755 $(BIN)/onprem-infra $(DESTDIR)$(PREFIX)/bin
	$(BIN)/onprem-infra man --out $(DESTDIR)$(PREFIX)/share/man/man1
	$(BIN)/onprem-infra completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/onprem-infra
	$(BIN)/onprem-infra completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_onprem-infra
	$(BIN)/onprem-infra completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/onprem-infra.fish

check: tools ## formatting, vet, staticcheck, laws, generated files up to date
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt -w $$unformatted" >&2; exit 1; }
	$(GO) vet $(TAGS) ./...
	$(GO) run $(STATICCHECK) $(TAGS) ./...
	$(GO) vet -C $(COREDNS) ./...
	cd $(COREDNS) && $(GO) run $(STATICCHECK) ./...
	$(GO) test $(TAGS) ./test
	$(GO) test $(TAGS) -run '^Test(Reference|ReadmeFits)' ./cmd/onprem-infra

test: export ONPREM_INFRA_REQUIRE := 1
test: setup build ## everything that must hold: real daemons, a boot, a handover, some chaos
	@GO='$(GO)' TAGS='$(TAGS)' COREDNS='$(COREDNS)' MAKE='$(MAKE)' test/all

fresh: ## make test of the last commit on a bare machine; SUITE=trixie: on Debian 13
	@test/fresh

daemons: export ONPREM_INFRA_REQUIRE := 1
daemons: NEEDS := daemons
daemons: setup build ## test with Debian's later keepalived and HAProxy; SUITES=trixie chooses
	@GO='$(GO)' TAGS='$(TAGS)' test/newer

fuzz: FUZZTIME := 10m
fuzz: tools ## every fuzz target for FUZZTIME (10m), one after the other
	@list=$$($(GO) test $(TAGS) -list '^Fuzz' ./...) || { echo "$$list" >&2; exit 1; }; echo "$$list" | \
		awk '/^Fuzz/ { target[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, target[i]; n = 0 }' | \
		{ while read -r room target; do \
			echo "== $$room $$target"; \
			$(GO) test $(TAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s "$$room" </dev/null || failed="$$failed $$room.$$target"; \
		done; [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }; }
	$(GO) test -C $(COREDNS) -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./mdns

# Rooms of which no test holds how soon something happens: the detector makes all ten times slower. Two tests of the plugin do.
# The long tests of these rooms do not run here either: make e2e asks for long tests, and runs these without the detector.
race: export CGO_ENABLED := 1
race: export ONPREM_INFRA_LONG :=
# The storage drivers of podman's bindings would need C libraries.
race: TAGS := -tags remote,containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper,btrfs_noversion
race: tools ## the concurrent packages under Go's race detector, which needs gcc
	$(GO) test $(TAGS) -race -p 2 -timeout 20m -count 1 ./bootstrap/... ./cluster/... ./shared/bootfiles ./shared/host/... ./shared/loop ./shared/operator/simulate/seeds ./shared/progress
	$(GO) test -C $(COREDNS) -race -timeout 20m -count 1 -skip '^(TestFlood|TestPlaces_Many)$$' ./mdns

e2e: export ONPREM_INFRA_REQUIRE := 1
e2e: export ONPREM_INFRA_LONG := 1
e2e: NEEDS := long
e2e: setup build ## the long version: machines and clusters, their failures and their times
	@GO='$(GO)' TAGS='$(TAGS)' COREDNS='$(COREDNS)' MAKE='$(MAKE)' test/all long

scars: export ONPREM_INFRA_REQUIRE := 1
scars: export ONPREM_INFRA_SCARS := 1
scars: export ONPREM_INFRA_LONG := 1
scars: setup ## bring each bug of the history back and see its test fail; then the mutation score
	@$(GO) test $(TAGS) -timeout 240m -count 1 -v -run Replay ./test/scars; replayed=$$?; \
		GO='$(GO)' TAGS='$(TAGS)' TOOL='$(GREMLINS)' ROOMS='$(PURE)' test/mutants && exit $$replayed

demo: ## the life of a cluster: bootstrap, nodes, handover, one rebooted, one lost
	@test/demo/announce
	@began=$$(date +%s); $(MAKE) --no-print-directory setup build && \
		$(GO) run $(TAGS) ./test/demo -began $$began

bench: setup build ## what each failure costs the clients; BENCH='-n 3 -run power-loss' chooses
	$(GO) run $(TAGS) ./test/bench $(BENCH)

soak: SOAK := 2h
soak: setup build ## a whole cluster for hours, with faults now and then: nothing grows; SOAK=24h chooses
	$(GO) run $(TAGS) ./test/soak -for $(SOAK)

image: setup build ## our container image, as localhost/onprem-infra:VERSION
	podman build --isolation chroot --timestamp $(SOURCE_DATE_EPOCH) --label org.opencontainers.image.version=$(VERSION) --label org.opencontainers.image.revision=$(REVISION) --tag $(IMAGE):$(VERSION) .

setup: tools
	@test/setup $(NEEDS)

tools:
	@command -v git >/dev/null || { echo "make: needs git" >&2; exit 1; }
	@command -v $(GO) >/dev/null || { echo "make: needs Go $$(sed -n 's/^go //p' go.mod)" >&2; exit 1; }
	@want=$$(sed -n 's/^go //p' go.mod); have=$$(cd / && GOTOOLCHAIN=local $(GO) env GOVERSION); \
		printf '%s\n' "$$want" "$${have#go}" | sort -CV || { echo "make: needs Go $$want, this is $$have" >&2; exit 1; }
