#compdef gh-loop
# zsh completion for gh-loop, and for gh loop
_gh_loop_words() {
	local -a found
	local line
	while IFS= read -r line; do
		found+=("${${line%%$'\t'*}//:/\\:}${${(M)line%$'\t'*}:+:${line#*$'\t'}}")
	done < <(command gh-loop __complete "$@" 2>/dev/null)
	if (($#found)); then _describe 'gh-loop' found; else _files; fi
}
_gh_loop() { _gh_loop_words "${(@)words[2,CURRENT]}"; }

# What completed gh before goes on doing so for everything but "gh loop".
_gh_with_loop() {
	if [[ ${words[2]} == loop ]] && ((CURRENT > 2)); then
		_gh_loop_words "${(@)words[3,CURRENT]}"
	elif ((${+functions[_gh]})) || autoload +X -Uz _gh 2>/dev/null; then
		_gh "$@"
	else
		eval "$(command gh completion -s zsh 2>/dev/null)" && compdef _gh_with_loop gh && _gh "$@"
	fi
}
compdef _gh_with_loop gh
if [[ ${funcstack[1]} == _gh-loop ]]; then _gh_loop "$@"; else compdef _gh_loop gh-loop; fi
