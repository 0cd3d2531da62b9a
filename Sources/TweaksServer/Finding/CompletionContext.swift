// What may come next in a line: a command, a path, a value, a keyword.

import Tweaks
import TweaksWire

/// What the word at the end of a line may be.
enum CompletionContext: Equatable {
    enum Tweaks: Equatable {
        case all, settable, actions

        func holds(_ node: TweakNode) -> Bool {
            switch self {
            case .all: true
            case .settable: node.isSettable
            case .actions: node.definition.kind == .action
            }
        }
    }

    /// The first word: a command, or the path of an assignment.
    case start
    case words([String])
    /// A path or pattern, or one of these words.
    case path(Tweaks, or: [String])
    /// A value of the tweak with this path; `set` and `check` know `toggle`, assignments do not.
    case value(path: String, withToggle: Bool)
    /// An argument of the action with this path.
    case argument(path: String, position: Int)
    /// Names that a hook knows for this command, such as presets.
    case names(command: String)

    /// - Parameter before: The words before the one at the end.
    init(_ before: [Token]) {
        guard let first = before.first else {
            self = .start
            return
        }
        if !first.isQuoted, let command = Command.named(first.text) {
            self = Self.argument(of: command.name, Array(before.dropFirst()))
        } else if before.count == 1 {
            self = .words(["=", "+=", "-="])
        } else if before.count == 2, before[1].isBare("=") {
            self = .value(path: first.text, withToggle: false)
        } else {
            self = .words([])
        }
    }

    private static func argument(of command: String, _ before: [Token]) -> CompletionContext {
        let isFirst = before.isEmpty
        switch command {
        case "set", "check":
            if isFirst { return .path(.settable, or: []) }
            return before.count == 1 ? .value(path: before[0].text, withToggle: true) : .words([])
        case "get": return .path(.all, or: [])
        case "reset", "keep": return .path(.settable, or: [])
        case "describe", "explain", "ls", "modified", "export": return isFirst ? .path(.all, or: []) : .words([])
        case "run":
            return isFirst ? .path(.actions, or: []) : .argument(path: before[0].text, position: before.count - 1)
        case "watch":
            if before.last?.isBare("since") == true || before.dropLast().last?.isBare("since") == true {
                return .words([])
            }
            return .path(.all, or: isFirst ? ["modified"] : ["modified", "since"])
        case "unwatch": return isFirst ? .path(.all, or: ["modified"]) : .words([])
        case "help": return isFirst ? .words(Command.all.map(\.name)) : .words([])
        case "json", "prompt": return isFirst ? .words(["on", "off"]) : .words([])
        case "undo", "redo": return isFirst ? .words(["force"]) : .words([])
        case "reload": return isFirst ? .words(["dry"]) : .words([])
        case "save":
            return isFirst ? .names(command: command) : before.count == 1 ? .path(.settable, or: []) : .words([])
        case "load":
            let hasName = before.contains { !$0.isBare("--only") }
            let rest = ["partly", "--only"].filter { word in !before.contains { $0.isBare(word) } }
            return hasName ? .words(rest) : .names(command: command)
        case "swap": return isFirst ? .names(command: command) : .words(before.count == 1 ? ["force"] : [])
        case "delete": return isFirst ? .names(command: command) : .words([])
        case "diff": return before.count < 2 ? .names(command: command) : .words([])
        case "hello": return before.count == 1 ? .words(["json"]) : .words([])
        default: return .names(command: command)
        }
    }
}
