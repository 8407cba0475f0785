/** What a shell runs to complete a command line: it asks the hidden command `__complete`, a candidate a line. */
export const completionScripts = {
  bash: `# granary completion: source <(granary completion bash)
_granary() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$(printf '%q' "$word")")
  done < <(granary __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _granary granary
`,
  zsh: `#compdef granary
# granary completion: source <(granary completion zsh)
_granary() {
  local -a candidates
  candidates=("\${(@f)$(granary __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$candidates[1]" ]]; then compadd -- "\${candidates[@]}"; else _files; fi
}
compdef _granary granary
`,
  fish: `# granary completion: granary completion fish | source
function __granary_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  granary __complete -- $before[2..-1] "$current" 2>/dev/null
end
complete -c granary -a '(__granary_complete)'
`,
} as const;

export type Shell = keyof typeof completionScripts;
