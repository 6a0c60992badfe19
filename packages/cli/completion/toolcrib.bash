# Completion of toolcrib for bash. In ~/.bashrc: eval "$(toolcrib completion bash)"
_toolcrib() {
  local line
  COMPREPLY=()
  # Not compgen -W: it would expand what it is given.
  while IFS= read -r line; do
    COMPREPLY+=("${line%%$'\t'*}")
  done < <(toolcrib completion words bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _toolcrib toolcrib
