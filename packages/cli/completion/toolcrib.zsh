#compdef toolcrib
# Completion of toolcrib for zsh. In ~/.zshrc, after compinit: eval "$(toolcrib completion zsh)"
_toolcrib() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done < <(toolcrib completion words zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ${#found} )); then
    _describe -t values toolcrib found
  else
    _files
  fi
}
if [[ ${funcstack[1]} == _toolcrib ]]; then
  _toolcrib "$@"
else
  compdef _toolcrib toolcrib
fi
