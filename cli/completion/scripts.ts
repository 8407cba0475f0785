/**
 * What a shell runs to complete a command line: it asks the hidden command `__complete`, a candidate a line. A shell hands
 * over words as they were typed, so quotes and backslashes are taken off; where nothing is known, files are offered.
 */
export const completionScripts = {
  // Bash breaks words at `=`, and takes what follows it as the word to complete.
  bash: `# granary completion: source <(granary completion bash)
_granary() {
  local word quote= words=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == = ]] && continue
    word="\${word#[\\"\\']}" word="\${word%[\\"\\']}"
    words+=("\${word//\\\\/}")
  done
  word="\${COMP_WORDS[COMP_CWORD]}"
  [[ $word == [\\"\\']* ]] && quote="\${word:0:1}" word="\${word:1}"
  [[ $word == = ]] && word=
  words+=("\${word//\\\\/}")
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ $quote ]]; then COMPREPLY+=("$word"); else COMPREPLY+=("$(printf '%q' "$word")"); fi
  done < <(granary __complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _granary granary
`,
  zsh: `#compdef granary
# granary completion: source <(granary completion zsh)
_granary() {
  local -a candidates
  candidates=("\${(@f)$(granary __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  if [[ -n "$candidates[1]" ]]; then compadd -- "\${candidates[@]}"; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _granary granary
`,
  fish: `# granary completion: granary completion fish | source
function __granary_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct | string replace -r '^["\\']' '' | string unescape)
  set -l candidates (granary __complete -- $before[2..-1] "$current" 2>/dev/null)
  if set -q candidates[1]
    string join -- \\n $candidates
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c granary -f -a '(__granary_complete)'
`,
} as const;

export type Shell = keyof typeof completionScripts;
