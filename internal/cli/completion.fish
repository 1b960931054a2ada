# fish completion for gh-loop, and for gh loop
function __gh_loop_words
	set -l words (commandline -opc) (commandline -ct)
	set -e words[1]
	if test "$words[1]" = loop
		set -e words[1]
	end
	command gh-loop __complete $words 2>/dev/null
end
complete -c gh-loop -f -a '(__gh_loop_words)'
complete -c gh -n '__fish_seen_subcommand_from loop' -f -a '(__gh_loop_words)'
