// Defines the completion scripts for shells; they get their candidates from `tweakctl __complete`.

/// A shell with a completion script.
enum Shell: String, CaseIterable {
    case bash, zsh, fish

    /// The script, with a comment on how to install it.
    var script: String {
        switch self {
        case .bash:
            """
            # tweakctl in bash. In ~/.bashrc: source <(tweakctl completions bash)
            _tweakctl() {
                local candidate word
                local -a words=()
                # Bash takes an address apart at its colons.
                for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
                    if [[ ${#words[@]} -gt 1 && ${words[${#words[@]} - 2]} == -H &&
                        ($word == :* || ${words[${#words[@]} - 1]} == *:) ]]; then
                        words[${#words[@]} - 1]+=$word
                    else
                        words+=("$word")
                    fi
                done
                COMPREPLY=()
                while IFS= read -r candidate; do
                    case $candidate in
                    */) compopt -o nospace 2>/dev/null ;;
                    esac
                    COMPREPLY+=("$(printf '%q' "$candidate")")
                done < <(tweakctl __complete "${words[@]}" 2>/dev/null)
            }
            complete -F _tweakctl tweakctl
            """
        case .zsh:
            """
            #compdef tweakctl
            # tweakctl in zsh. In ~/.zshrc, after compinit: source <(tweakctl completions zsh)
            _tweakctl() {
                local candidate
                local -a parts whole
                tweakctl __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null | while IFS= read -r candidate; do
                    case $candidate in
                    */) parts+=("$candidate") ;;
                    *) whole+=("$candidate") ;;
                    esac
                done
                compadd -S '' -a parts
                compadd -a whole
            }
            compdef _tweakctl tweakctl
            """
        case .fish:
            """
            # tweakctl in fish: tweakctl completions fish > ~/.config/fish/completions/tweakctl.fish
            function __tweakctl_candidates
                set -l words (commandline -opc)
                tweakctl __complete $words[2..-1] (commandline -ct) 2>/dev/null
            end
            complete -c tweakctl -f -a '(__tweakctl_candidates)'
            """
        }
    }
}
