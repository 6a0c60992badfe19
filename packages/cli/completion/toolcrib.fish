# Completion of toolcrib for fish. In ~/.config/fish/config.fish: toolcrib completion fish | source
function __toolcrib_words
    set -l words (commandline -opc) (commandline -ct)
    set -l found (toolcrib completion words fish -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c toolcrib -f -a '(__toolcrib_words)'
