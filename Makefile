# Everything here needs Go and a Docker engine, and nothing else.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Tests that talk to Docker are named TestIntegration... Some build and run the whole
# program, which go test does not know of: -count=1 keeps it from calling them "cached".
INTEGRATION = ^TestIntegration
# The images that a kubelet makes of itself when they are missing.
IMAGES = kubelet14/hello:1 kubelet14/pause:1

# The kubelet of `make run`.
DEMO = -root_dir=.run

.DEFAULT_GOAL := help

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## run the demo: the pods of manifests/, until Ctrl-C; the pods stay
	@echo 'compiling kubelet14; the first time takes about a minute'
	@echo
	@echo 'Three things to try, in another terminal:'
	@echo '  curl http://127.0.0.1:8014/                              the page that the pod web serves'
	@echo '  docker kill $$(docker ps -q --filter name=k8s_writer)     the container is replaced at once'
	@echo '  sed -i "s/healthz/env/" manifests/web.yaml              an edit: only that container is replaced; see what curl prints then'
	@echo 'Ctrl-C ends the kubelet, and the pods go on running.'
	@echo
	@trap 'echo "which is, for the demo: make clean"; exit 0' INT; go run . $(DEMO) -config=manifests/

build: ## build ./kubelet14
	@echo 'compiling kubelet14; the first time takes about a minute'
	go build -buildvcs=auto -o kubelet14 .

release: ## make the tarballs of a release in dist, for amd64 and arm64
	@docs/release/build dist

image: release ## make the Docker image kubelet14:VERSION of that release, which has nothing but the program
	@docs/release/image dist

# Without paths in them, packages are compiled once for all copies of this directory that tests make.
test test-all unit: export GOFLAGS += -trimpath
# Tests whose names have one of these words are for test-all: they take long, or compile an etcd first.
LONG = Long[A-Z]|Etcd
# They mostly wait; those that take longest begin first. make lint calls go vet.
GOTEST = go test -count=1 -timeout 70m -vet=off -p $$(($$(nproc) + 1))

test: ## run the tests, and the commands of README.md and of the tour; they remove what they make in Docker
	$(GOTEST) -skip '$(LONG)' ./kubelet/e2e ./docs ./...

# What is compiled before is not compiled by several tests at once. The labs make the most containers and mostly wait: more of
# them at once, and nothing beside.
test-all: kubernetes browser alerts etcd ## run every test: all pages of docs/, an etcd, a fleet, and the page in Chromium too
	$(GOTEST) ./kubelet/e2e ./docs $$(go list ./... | grep -v docs/labs)
	$(GOTEST) -parallel 10 ./docs/labs

kubernetes: # what -convert prints, with the types of Kubernetes: a module of its own
	go test -C api/v1/testdata/kubernetes -count=1 ./...

alerts: # docs/alerts.yaml, with the parser of Prometheus: a module of its own
	go test -C docs/testdata/prometheus -count=1 ./...

browser: # the page in a real browser: a module of its own, with the chromium of the PATH
	mkdir -p .artifacts
	go test -C kubelet/server/testdata/browser -count=1 -timeout 40m -artifacts -outputdir $(CURDIR)/.artifacts ./...

picture: ## make docs/replay.html and docs/replay.gif anew: an edit, as the page replays it
	go test ./kubelet/e2e -count=1 -run ReplayOfAnEdit -rewrite
	go test -C kubelet/server/testdata/browser -count=1 -run TheReplayInDocs ./... -picture

unit: ## run the tests that need no Docker
	go test -skip '$(INTEGRATION)|$(LONG)' ./...

lint: ## check format, go vet and staticcheck
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt -w $$unformatted"; exit 1; }
	go vet ./...
	go vet -tags chaos ./kubelet/e2e/chaos
	go run $(STATICCHECK) ./...

check: ## list the exercises of docs/ that have a check; EXERCISE=588-1 checks that one
	@$(if $(EXERCISE),[ ! -t 2 ] || echo 'this compiles first: up to a minute')
	@go run ./docs/exercises $(EXERCISE)

DIR = mine

lab: ## list the six labs of docs/labs, with what is done; LAB=1 DIR=mine checks one; RUN='python3 my.py' for another language
	@go run ./docs/labs -dir='$(DIR)' $(if $(LAB),-lab=$(LAB)) $(if $(RUN),-run='$(RUN)')

student: ## give the pages and the demo names and ports of your own on a shared host: STUDENT=7
	@docs/student.bash $(STUDENT)

bench: ## measure against a bare program that makes the same Docker calls, as ratios
	go test -run '^$$' -bench . -benchtime 1x -timeout 60m ./...

PODS = 1,20,100
# What somebody installs for podman and docker compose. podman uses the runc of Docker: crun refuses machines with both versions of control groups.
BESIDE = docker-compose podman catatonit aardvark-dns nftables

bench-beside: ## measure PODS=1,20,100 pods beside docker compose and podman, in a root directory of Debian sid; it needs root
	PACKAGES='$(BESIDE)' PODMAN_IGNORE_CGROUPSV1_WARNING=1 .ci/docker-next sid \
		go test ./kubelet/e2e -run '^$$' -bench Beside -benchtime 1x -timeout 120m -args -pods=$(PODS)

MINUTES = 10
SEED = 0
PAGE = 10350

chaos: ## random faults for MINUTES=10, and checks for doubles, losses and needless restarts; SEED=7 repeats them
	mkdir -p .artifacts
	go test -tags chaos ./kubelet/e2e/chaos -run 'LongChaos$$' -v -count=1 -timeout 0 -artifacts -outputdir $(CURDIR)/.artifacts -args -calm=30s -minutes=$(MINUTES) -seed=$(SEED) -page=$(PAGE)

HOSTS = 100
MEMBERS = 1
ACCESS = none

fleet: ## measure HOSTS=100 hosts on MEMBERS=1 or 3 etcd servers; ACCESS=none, passwords or certificates
	go test ./kubelet/e2e/fleet -run '^$$' -bench . -benchtime 1x -timeout 60m -args -hosts=$(HOSTS) -members=$(MEMBERS) -access=$(ACCESS)

# Without cgo, as the tests build it: packages are compiled once for both.
etcd: ## build etcd and its tools in bin, for two chapters
	CGO_ENABLED=0 go build -C config/testdata/etcd -o ../../../bin/etcd go.etcd.io/etcd/server/v3
	CGO_ENABLED=0 go build -C config/testdata/etcd -o ../../../bin/ go.etcd.io/etcd/etcdctl/v3 go.etcd.io/etcd/etcdutl/v3

clean: ## stop and remove what `make run` has made, and what was built
	@if [ -d .run ]; then go run . $(DEMO) -cleanup && rm -rf .run; fi
	@docker rmi $(IMAGES) 2>/dev/null || true # they stay if containers use them
	rm -f kubelet14
	rm -rf bin dist .artifacts

.PHONY: help run build release image test test-all kubernetes browser alerts picture unit lint check lab student bench bench-beside chaos fleet etcd clean
