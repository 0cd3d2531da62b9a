// Completes words for the shell: lists candidates, one a line and unquoted, and prints the scripts that quote them.

import Tweaks
import TweaksSystem
import TweaksWire

/// Answers `tweakctl __complete WORD…`; the last word is the one to complete.
enum ShellCompletion {
    /// The timeout for an answer, in milliseconds, where the words contain none.
    private static let timeout: Int32 = 1_000

    static func candidates(_ words: [String]) -> [String] {
        if words.count > 1, words.first == Verb.fleet.rawValue { return FleetProgram.candidates(words.dropFirst()) }
        let typed = words.last ?? ""
        let before = Array(words.dropLast())
        if before.last == "completions" { return Shell.allCases.map(\.rawValue).starting(with: typed) }
        if typed.hasPrefix("-"), let invocation = try? Invocation(before), invocation.words.isEmpty {
            return Invocation.options.flatMap(\.names).starting(with: typed)
        }
        guard let invocation = invocation(before) else { return [] }
        if invocation.words.isEmpty, invocation.address == nil { return first(typed) }
        return asked(invocation, typed)
    }

    /// The options and words before the one to complete; nil if they are not valid.
    static func invocation(_ before: [String]) -> Invocation? {
        guard var invocation = try? Invocation(before) else { return nil }
        if invocation.timeout == .standard { invocation.timeout = .milliseconds(timeout) }
        return invocation
    }

    /// Completes the first word: a process, or a command if only one process runs.
    private static func first(_ typed: String) -> [String] {
        let sockets = RunningProcess.running()
        let verbs = Verb.allCases.filter { $0.summary != nil && $0 != .watch }.map(\.rawValue)
        let own = (sockets.map(\.name).filter(Quoting.isSafe) + verbs).starting(with: typed)
        guard sockets.count == 1, let only = sockets.first else { return own }
        return own + candidates(of: Target(only, timeout: .milliseconds(timeout)), [], typed)
    }

    private static func asked(_ invocation: Invocation, _ typed: String) -> [String] {
        if let own = ofOwnCommand(invocation.words, typed) { return own }
        if invocation.words == [Verb.repl.rawValue], invocation.address == nil {
            return RunningProcess.running().map(\.name).starting(with: typed)
        }
        guard let (target, words) = try? Target.of(invocation) else {
            // The program does not run.
            return invocation.words.count == 1 ? [Verb.restore.rawValue].starting(with: typed) : []
        }
        if words.first == Verb.import.rawValue { return files(typed) + ["--dry-run", "--yes"].starting(with: typed) }
        if words.first == Verb.backup.rawValue { return files(typed) + ["--force"].starting(with: typed) }
        if words.first == Verb.bake.rawValue {
            let own = files(typed) + ["--write"].starting(with: typed)
            return own + candidates(of: target, [Command.modified.name], typed)
        }
        if words.first == Verb.wait.rawValue {
            if words.count == 1 { return candidates(of: target, [Command.get.name], typed) }
            // Shells take the others for redirections.
            let relations: [WaitRelation] = words.count == 2 ? [.equal, .unequal] : []
            return relations.map(\.rawValue).starting(with: typed)
        }
        if words.first == Verb.plot.rawValue {
            return ["--seconds"].filter { typed.hasPrefix("-") && $0.hasPrefix(typed) }
                + candidates(of: target, [Command.samples.name], typed)
        }
        let verbs = words.isEmpty ? [Verb.repl, .wait, .plot, .import, .bake, .backup] : []
        let own = verbs.map(\.rawValue).starting(with: typed)
        return own + candidates(of: target, words, typed)
    }

    /// Completes arguments of tweakctl's own commands; nil for others.
    private static func ofOwnCommand(_ words: [String], _ typed: String) -> [String]? {
        // The program does not run, so that its name is any word.
        if words.dropFirst().first == Verb.restore.rawValue, Verb(rawValue: words[0]) == nil {
            return files(typed) + RestoreCommand.options.starting(with: typed)
        }
        switch words.first.flatMap(Verb.init(rawValue:)) {
        case .token?:
            if words.count == 1 { return ["new", "list", "renew", "revoke"].starting(with: typed) }
            return typed.hasPrefix("-") ? ["--scopes", "--expires", "--rate", "--file"].starting(with: typed) : []
        case .audit?:
            if words.count == 1 { return ["verify"].starting(with: typed) }
            return typed.hasPrefix("-") ? ["--head"].starting(with: typed) : files(typed)
        case .state?: return words.count == 1 ? ["check"].starting(with: typed) : files(typed)
        case .login?, .logout?:
            if words.count != 1 { return [] }
            return RunningProcess.running().map(\.name).filter(Quoting.isSafe).starting(with: typed)
        default: return nil
        }
    }

    /// Files whose path begins with a text; directories end with a slash.
    private static func files(_ typed: String) -> [String] {
        let folder = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
        guard let names = try? Folder(folder.isEmpty ? "." : folder).names() else { return [] }
        let hidden = typed.dropFirst(folder.count).hasPrefix(".")
        let shown = names.filter { Quoting.isSafe($0) && $0.hasPrefix(".") == hidden }
        return shown.map { folder + $0 }.starting(with: typed).sorted().map { path in
            (try? Folder.anywhere.info(path))?.kind == .directory ? path + "/" : path
        }
    }

    /// Completions from the process itself.
    private static func candidates(of target: Target, _ words: [String], _ typed: String) -> [String] {
        // Tokens have no completions.
        if words.first.map(Secrets.isAuthentication) ?? false { return [] }
        guard let connection = try? target.open() else { return [] }
        guard target.savedLogin.authenticateQuietly(on: connection, within: timeout) else { return [] }
        let line = (words.map { CommandText.token($0) } + [typed]).joined(separator: " ")
        guard let answer = connection.ask(Completion(line).request, within: timeout) else { return [] }
        return Completion.candidates(answer).map(Completion.bare)
    }
}

extension [String] {
    fileprivate func starting(with text: String) -> [String] { filter { $0.hasPrefix(text) } }
}

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
