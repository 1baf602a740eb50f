# kubelet14 -completion >/etc/bash_completion.d/kubelet14, or: source <(kubelet14 -completion)
_kubelet14() {
	local word=${COMP_WORDS[COMP_CWORD]} names='NAMES' program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words
	words=$("$program" help 2>/dev/null | sed -n 's/^  kubelet14 \([a-z]* [A-Z]*\).*/\1/p')
	local name=${word#-}
	name=${name#-}
	[[ $name != *-* ]] || names=${names//_/-}
	COMPREPLY=()
	if [[ $word == -* ]]; then
		[[ $command == -* ]] || names+=" $("$program" help "$command" 2>/dev/null | sed -n 's/^  -\([a-z]*\).*/\1/p')"
		COMPREPLY=($(compgen -P "${word%%"$name"}" -W "$names" -- "$name"))
	elif [[ $COMP_CWORD == 1 ]]; then
		COMPREPLY=($(compgen -W "$(sed 's/ .*//' <<<"$words")" -- "$word"))
	elif [[ $words == *"$command POD"* ]]; then
		COMPREPLY=($(compgen -W "$("$program" ps -o name 2>/dev/null)" -- "$word"))
	fi
	[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o default -F _kubelet14 kubelet14
