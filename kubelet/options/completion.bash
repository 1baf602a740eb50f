# kubelet14 -completion >/etc/bash_completion.d/kubelet14, or: source <(kubelet14 -completion)
_kubelet14() {
	local word=${COMP_WORDS[COMP_CWORD]} names='NAMES'
	local name=${word#-}
	name=${name#-}
	[[ $name != *-* ]] || names=${names//_/-}
	COMPREPLY=()
	[[ $word != -* ]] || COMPREPLY=($(compgen -P "${word%%"$name"}" -W "$names" -- "$name"))
	[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o default -F _kubelet14 kubelet14
