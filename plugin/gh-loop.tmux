#!/bin/sh
# Finds the program and lets it load keys, hooks and status segment. tmux's
# plugin manager throws output away, so what is wrong is said on the status line.
dir=$(cd "$(dirname "$0")/.." && pwd)
bin=$(tmux show-options -gqv @loop-bin)
for found in "$bin" "$dir/gh-loop" "$(command -v gh-loop)" \
	"${XDG_DATA_HOME:-$HOME/.local/share}/gh/extensions/gh-loop/gh-loop" "$HOME/.local/bin/gh-loop"; do
	[ -x "$found" ] && break
	found=
done
if [ -z "$found" ]; then
	tmux display-message "gh-loop: the program is not found: run $dir/install.sh, or set @loop-bin" || :
	exit 0
fi
said=$("$found" tmux load 2>&1) || tmux display-message "gh-loop: $(printf %s "$said" | tr '\n#' '  ')" || :
