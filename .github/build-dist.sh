#!/usr/bin/env bash
# build-dist.sh TAG: builds what a release has, as gh wants it: bare programs
# in dist/ whose names end in OS-ARCH. tmux runs on no others.
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:?TAG is missing}
mkdir -p dist
for target in linux-amd64 linux-arm64 linux-arm linux-386 darwin-amd64 darwin-arm64; do
	GOOS=${target%-*} GOARCH=${target#*-} CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags nethttpomithttp2 -gcflags all=-l \
		-ldflags "-s -w -X github.com/gh-loop/gh-loop/internal/cli.Version=${tag#v}" -o "dist/gh-loop_${tag}_$target" ./cmd/gh-loop
done
