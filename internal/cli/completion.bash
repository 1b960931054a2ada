# bash completion for gh-loop, and for gh loop
_gh_loop_words() {
	local word
	COMPREPLY=()
	while IFS= read -r word; do
		COMPREPLY+=("${word%%$'\t'*}")
	done < <(command gh-loop __complete "$@" 2>/dev/null)
	if ((${#COMPREPLY[@]} == 0)); then compopt -o default 2>/dev/null; fi
}
_gh_loop() { _gh_loop_words "${COMP_WORDS[@]:1:COMP_CWORD}"; }
complete -F _gh_loop gh-loop

# What completed gh before goes on doing so for everything but "gh loop".
_gh_loop_before=$(complete -p gh 2>/dev/null | sed -n 's/.*-F \([^ ]*\) .*/\1/p')
_gh_with_loop() {
	if [[ ${COMP_WORDS[1]} == loop ]] && ((COMP_CWORD > 1)); then
		_gh_loop_words "${COMP_WORDS[@]:2:COMP_CWORD-1}"
	elif [[ -n $_gh_loop_before && $_gh_loop_before != _gh_with_loop ]]; then
		"$_gh_loop_before" "$@"
	else
		if ! declare -F __start_gh >/dev/null; then source <(command gh completion -s bash 2>/dev/null); complete -F _gh_with_loop gh; fi
		__start_gh "$@"
	fi
}
complete -F _gh_with_loop gh
