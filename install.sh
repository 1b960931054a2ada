#!/usr/bin/env bash
# Builds and installs gh-loop. It never touches your configuration or your
# records, nor your tmux server, but that --uninstall takes our keys out of it.
# Kept to what the bash 3.2 of macOS knows.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$root"

module=github.com/gh-loop/gh-loop
tools=${XDG_CACHE_HOME:-$HOME/.cache}/gh-loop-tools
data=${XDG_DATA_HOME:-$HOME/.local/share}
bin_dirs=("$HOME/.local/bin" "$HOME/bin" /opt/homebrew/bin /usr/local/bin)
tmp=$(mktemp -d /tmp/gh-loop.XXXXXX)
trap 'rm -rf "$tmp"' EXIT

say() { printf '%s\n' "$@"; }
die() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

usage() {
	say 'usage: ./install.sh              build gh-loop, put it on PATH, make "gh loop"'
	say '       ./install.sh --demo       get what it needs, build it, play a story'
	say '       ./install.sh --test       get what tests need, run every check and test'
	say '       ./install.sh --uninstall  take everything back but the records'
}

# --- what the machine has to have ---

# as_root COMMAND…: where that needs no question; may_install says whether.
as_root() { if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi; }
may_install() { [[ $pm == brew ]] || ((EUID == 0)) || sudo -n true 2>/dev/null; }
apt_get() { as_root env DEBIAN_FRONTEND=noninteractive APT_CONFIG="${APT_CONFIG:-/dev/null}" apt-get -qq "$@" >&2; }

# have COMMAND: tmux counts from 3.2 on, Go from 1.21 on, which is the first
# that fetches the toolchain that go.mod names.
have() {
	case $1 in
	tmux) tmux -V 2>/dev/null | awk '{sub(/^[^0-9]*/, "", $2); split($2, v, "."); exit !($2 == "" || v[1] * 100 + v[2] >= 302)}' ;;
	go) find_go ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# find_go puts a Go that is new enough on our PATH, also from where archives
# and versioned packages put it.
find_go() {
	local dir
	for dir in "$(dirname "$(command -v go || echo /-/go)")" /usr/local/go/bin /usr/lib/go-1.*/bin; do
		(cd / && GOTOOLCHAIN=local "$dir/go" version 2>/dev/null) | awk '{split($3, v, "."); found = v[2] >= 21} END {exit !found}' || continue
		export PATH=$dir:$PATH
		return 0
	done
	return 1
}

# apt_go names the package of a Go that is new enough: the plain one, or the
# newest with its version in its name, as backports and Ubuntu's updates have.
apt_go() {
	apt-cache policy golang-go | awk '$1 == "Candidate:" {sub(/^[0-9]+:/, "", $2); split($2, v, "."); if (v[2] >= 21) print "golang-go"}' | grep . ||
		apt-cache search --names-only '^golang-1\.[0-9]+-go$' | awk -F'[-. ]' '$3 >= 21 && $3 > newest {newest = $3} END {if (newest) print "golang-1." newest "-go"}'
}

on_debian() { grep -qx 'ID=debian' /etc/os-release; }

# archive is where this machine gets its packages from.
archive() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
		sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+).*/\2/p' | head -n 1
}

backports() { sed -n "s|^VERSION_CODENAME=\(.*\)|deb $(archive) \1-backports main|p" /etc/os-release; }

# see_backports lets apt read Debian's backports for as long as we run: the
# machine's own list of sources stays as it is.
see_backports() {
	mkdir "$tmp/sources"
	cp /etc/apt/sources.list.d/* "$tmp/sources/" 2>/dev/null || true
	backports >"$tmp/sources/backports.list"
	say "Dir::Etc::SourceParts \"$tmp/sources\";" >"$tmp/apt.conf"
	export APT_CONFIG=$tmp/apt.conf
	apt_get update || true
}

# packages COMMAND…: what $pm calls what has these commands.
packages() {
	local c
	for c in "$@"; do
		case $pm:$c in
		apt-get:go) say "$(apt_go) ca-certificates" ;;
		apt-get:gcc) say gcc libc6-dev ;;
		dnf:go) say golang ;;
		dnf:perl) say perl-interpreter perl-JSON-PP ;;
		dnf:shellcheck) say ShellCheck ;;
		*) say "$c" ;;
		esac
	done | paste -sd' ' -
}

# by_hand PACKAGE…: the same for somebody who can be asked for a password.
by_hand() {
	case $pm in
	apt-get)
		if [[ " $* " == *' ca-certificates '* && -z $(apt_go) ]]; then
			on_debian || die 'this release has no Go from 1.21 on: take one from https://go.dev/dl and run this again'
			printf "echo '%s' | sudo tee /etc/apt/sources.list.d/backports.list && " "$(backports)"
			set -- -t "$(backports | awk '{print $3}')" golang-go "$@"
		fi
		say "sudo apt-get update && sudo apt-get install -y $*"
		;;
	dnf) say "sudo dnf install -y $*" ;;
	brew) say "brew install $*" ;;
	esac
}

# need COMMAND…: installs what is missing, or says the command and ends.
need() {
	local c pm='' missing=() names=()
	for c in "$@"; do have "$c" || missing+=("$c"); done
	((${#missing[@]})) || return 0
	for c in brew dnf apt-get; do if command -v "$c" >/dev/null; then pm=$c; fi; done
	[[ -n $pm ]] || die "not here, or too old: ${missing[*]} (wanted: tmux from 3.2, Go from 1.21 on); install that and run this again"
	if [[ $pm == apt-get ]] && may_install; then
		apt_get update || true
		if [[ " ${missing[*]} " == *' go '* && -z $(apt_go) ]] && on_debian; then see_backports; fi
	fi
	read -ra names <<<"$(packages "${missing[@]}")"
	may_install || die "not here, or too old: ${missing[*]}; run this, and then this script again:
  $(by_hand "${names[@]}")"
	say "installing with $pm: ${names[*]}"
	case $pm in
	apt-get) apt_get install -y --no-install-recommends "${names[@]}" ;;
	dnf) as_root dnf -y -q install "${names[@]}" ;;
	brew) brew install -q "${names[@]}" ;;
	esac || say "$pm did not manage that"
	for c in "${missing[@]}"; do
		have "$c" || die "still not here, or too old: $c (wanted: tmux from 3.2, Go from 1.21 on); by hand:
  $(by_hand "${names[@]}")"
	done
}

# --- build, install, take back ---

# toolchain settles on one Go for all that follows: the one that go.mod asks
# for, fetched by the one that is here if that is older. What is compiled the
# same way is compiled once, hence flags for all.
toolchain() {
	have go || die 'no Go from 1.21 on: ./install.sh --demo installs it, or take it from https://go.dev/dl'
	local version
	version=$(GOTOOLCHAIN=auto go env GOVERSION) || die "$(go version) cannot fetch the toolchain that go.mod asks for (line \"go\"): install that one from https://go.dev/dl"
	[[ ! $version =~ ^go[0-9.]+$ ]] || export GOTOOLCHAIN=$version
	export CGO_ENABLED=0 GOFLAGS="${GOFLAGS-} -trimpath -buildvcs=false"
}

build() {
	local version
	version=$(git describe --tags --always --dirty 2>/dev/null) || version=dev
	# No HTTP/2 and no inlining: a tenth less to load at each start, and nothing
	# here is bound by computing.
	go build -tags nethttpomithttp2 -gcflags all=-l -ldflags "-s -w -X $module/internal/cli.Version=$version" -o gh-loop ./cmd/gh-loop
}

# ours FILE: it is absent, or a gh-loop.
ours() { [[ ! -e $1 ]] || grep -qa "$module/internal/cli" "$1"; }
on_path() { [[ :$PATH: == *:$1:* ]]; }

# bin_dir is where the binary goes: where one is already, else a directory on
# PATH that we may write to.
bin_dir() {
	local dir
	for dir in "${bin_dirs[@]}"; do
		if [[ -e $dir/gh-loop && -w $dir ]]; then
			say "$dir"
			return
		fi
	done
	for dir in "${bin_dirs[@]}"; do
		if on_path "$dir" && { mkdir -p "$dir" && [[ -w $dir ]]; } 2>/dev/null; then
			say "$dir"
			return
		fi
	done
	say "$HOME/.local/bin"
}

install_binary() {
	local dir
	dir=$(bin_dir)
	ours "$dir/gh-loop" || die "$dir/gh-loop is there and is something else: move it away and run this again"
	mkdir -p "$dir"
	cp gh-loop "$dir/.gh-loop.new"
	mv -f "$dir/.gh-loop.new" "$dir/gh-loop"
	say "installed  $dir/gh-loop"
	on_path "$dir" || say "           not on PATH yet; put this into your shell's start file:
             export PATH=\"$dir:\$PATH\""
}

# install_extension makes gh call us as "gh loop". gh goes by the directory's
# name, so a checkout with another name gets a link with the right one.
install_extension() {
	local link=$data/gh/extensions/gh-loop dir=$root
	if ! command -v gh >/dev/null; then
		say 'gh         is not here, so call gh-loop itself; for "gh loop" run this again' \
			'           once gh is here'
		return
	fi
	if [[ $(basename "$root") != gh-loop ]]; then
		dir=$data/gh-loop/gh-loop
		mkdir -p "$data/gh-loop"
		ln -sfn "$root" "$dir"
	fi
	if [[ -L $link && ! -e $link ]]; then rm -f "$link"; fi
	if [[ -e $link && ! $link -ef $root ]]; then
		say 'gh         has an extension "loop" from elsewhere, left alone; to take this one:' \
			'           gh extension remove loop && ./install.sh'
	elif [[ -e $link ]] || (cd "$dir" && gh extension install .) >"$tmp/gh" 2>&1; then
		say 'installed  gh loop'
	elif gh auth token >/dev/null 2>&1; then
		say "gh         did not take the extension ($(tail -n 1 "$tmp/gh")); gh-loop itself works"
	else
		say 'gh         is not signed in, and takes no extension; gh-loop itself works.' \
			'           For "gh loop":  gh auth login && ./install.sh'
	fi
}

install_all() {
	toolchain
	build
	install_binary
	install_extension
	say '' 'For the keys in tmux, one of these two lines at the end of tmux.conf:' \
		"  run-shell '${root// /\\ }/gh-loop.tmux'" "  set -g @plugin 'gh-loop/gh-loop'    # with TPM"
}

# installed names a program of ours that is there, nothing if there is none.
installed() {
	local dir
	for dir in "${bin_dirs[@]}" "$root"; do
		if [[ -x $dir/gh-loop ]] && ours "$dir/gh-loop"; then
			say "$dir/gh-loop"
			return
		fi
	done
}

# take_out has the program take back what only it knows, while it is there: the
# hooks in agents' settings, and what it loaded into tmux.
take_out() {
	local bin memo said=$tmp/hooks
	bin=$(installed)
	if [[ -n $bin ]]; then
		"$bin" hooks uninstall --all --yes </dev/null >/dev/null 2>"$said" || true
		if [[ -s $said ]]; then say "agents' hooks:" && sed 's/^/           /' "$said"; fi
		if "$bin" tmux unload >/dev/null 2>&1; then say 'tmux       has none of its keys and hooks any more'; fi
	fi
	compgen -G "$state/hooks/*.json" >/dev/null || return 0
	say "kept       hooks in agents' settings: without gh-loop they do nothing; what is" \
		'           to be taken out by hand has the words "hook harness" or is called gh-loop:'
	for memo in "$state"/hooks/*.json; do
		say "           $(sed -nE 's/.*"path":"(([^"\\]|\\.)*)".*/\1/p' "$memo")"
	done
}

uninstall() {
	local dir link=$data/gh/extensions/gh-loop state=${GH_LOOP_STATE_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/gh-loop}
	take_out
	if [[ -L $link && ($link -ef $root || ! -e $link) ]]; then rm -f "$link" && say 'removed    gh loop'; fi
	for dir in "${bin_dirs[@]}"; do
		if [[ -e $dir/gh-loop ]] && ours "$dir/gh-loop"; then rm -f "$dir/gh-loop" && say "removed    $dir/gh-loop"; fi
	done
	rm -f gh-loop "$data/gh-loop/gh-loop"
	rm -rf "$tools"
	rmdir "$data/gh-loop" "$state/hooks" 2>/dev/null || true
	say "kept       the records, in $state" \
		"           your configuration, in ${GH_LOOP_CONFIG:-${XDG_CONFIG_HOME:-$HOME/.config}/gh-loop/config.toml}" \
		'           yours to take out: the line with gh-loop in tmux.conf, if any'
}

case ${1-} in
'') install_all ;;
--demo)
	need tmux go
	toolchain
	build
	./gh-loop demo "${@:2}"
	;;
--test)
	need tmux git jq go gcc perl shellcheck
	toolchain
	# shellcheck source=.ci/checks.sh
	. .ci/checks.sh
	run_checks
	;;
--uninstall) uninstall ;;
-h | --help) usage ;;
*)
	usage >&2
	exit 2
	;;
esac
