// Computes the completions of a partial line.

import Tweaks
import TweaksWire

/// Finds the tokens that may end a line.
struct Completion: Sendable {
    let view: TweakView
    /// The commands that the session may use.
    var commands = Command.all.map(\.name)
    let presetNames: @Sendable () -> [String]
    /// The maximum number of candidates to offer.
    static let maxCandidates = 200

    /// The tokens that could replace the last word of a text, in the order of help and listings.
    ///
    /// Paths are completed part by part: `Content/`, then `Content/Text/`, then `Content/Text/Size`. If a path needs
    /// quotes, a part of it has only the opening one.
    func candidates(for text: String) -> [String] {
        guard let line = text.withBytes({ Tokenizer.unfinished($0) }) else { return [] }
        return Array(candidates(behind: line.before, line.last).prefix(Self.maxCandidates))
    }

    private func candidates(behind before: [Token], _ last: Token) -> [String] {
        guard let first = before.first else { return words(commands, last) + paths(last.text, .settable) }
        if !first.isQuoted, let command = Command.named(first.text) {
            return command.next(after: before.dropFirst()).map { candidates($0, of: command, last) } ?? []
        }
        if before.count == 1 { return words(["=", "+=", "-="], last) }
        if before.count > 2 || !before[1].isBare("=") { return [] }
        return values(view[first.text]?.node.definition, withToggle: false, last)
    }

    private func candidates(_ next: NextArgument, of command: Command, _ last: Token) -> [String] {
        let path = next.words.first ?? ""
        let candidates =
            switch next.kind {
            case .command?: words(Command.all.map(\.name), last)
            case .path?, .pattern?, .prefix?: paths(last.text, next.tweaks)
            case .value?: values(view[path]?.node.definition, withToggle: true, last)
            case .argument?: values(argument(path, next.words.count - 1), withToggle: false, last)
            case .preset? where commands.contains(command.name): presetNames().filter { $0.hasPrefix(last.text) }
            default: [String]()
            }
        return words(next.keywords, last) + candidates
    }

    /// Keywords are never quoted.
    private func words(_ words: [String], _ last: Token) -> [String] {
        !last.isQuoted ? words.filter { $0.hasPrefix(last.text) } : []
    }

    private func argument(_ path: String, _ position: Int) -> TweakDefinition? {
        guard let parameters = view[path]?.node.signature?.parameters else { return nil }
        return parameters.indices.contains(position) ? parameters[position].definition : nil
    }

    private func values(
        _ definition: TweakDefinition?, withToggle: Bool, _ last: Token
    ) -> [String] {
        guard let definition else { return [] }
        let names = definition.kind.rules.names(definition)
        // Truth values are keywords of the line, with toggle in addition.
        if definition.kind == .bool { return words(names + (withToggle ? ["toggle"] : []), last) }
        let exact = names.filter { $0.hasPrefix(last.text) }
        let folded = FoldedText.bytes(last.text)
        return (exact.isEmpty ? names.filter { FoldedText.bytes($0).starts(with: folded) } : exact)
            .map { TweakValue.choice($0).text }
    }

    // MARK: Paths

    /// The next part of every path with this prefix; if none has it, of those that match without case.
    private func paths(_ typed: String, _ tweaks: Argument.Tweaks) -> [String] {
        if typed.pathParts.count > 3 { return [] }
        let exact = paths(Typed(typed, isFolded: false), tweaks)
        return exact.isEmpty && !typed.isEmpty ? paths(Typed(typed, isFolded: true), tweaks) : exact
    }

    private func paths(_ typed: Typed, _ tweaks: Argument.Tweaks) -> [String] {
        var found: [String] = []
        var latest = ""
        for group in view.listing.groups where found.count < Self.maxCandidates {
            guard typed.fits(group.category, 0), typed.fits(group.collection, 1) else { continue }
            if typed.count > 2 {
                for node in group.nodes where tweaks.holds(node) && typed.fits(node.path.name, 2) {
                    found.append(node.path.token)
                    if found.count == Self.maxCandidates { break }
                }
            } else {
                let next = typed.count == 1 ? "\(group.category)/" : "\(group.category)/\(group.collection)/"
                if next == latest || !group.nodes.contains(where: tweaks.holds) { continue }
                latest = next
                found.append(Self.opened(next))
            }
        }
        return found
    }

    /// The typed parts of a path.
    private struct Typed {
        private let parts: [[UInt8]]
        private let isFolded: Bool

        init(_ text: String, isFolded: Bool) {
            parts = text.pathParts.map { isFolded ? FoldedText.bytes($0) : Array($0.utf8) }
            self.isFolded = isFolded
        }

        var count: Int { parts.count }

        /// Whether a part of a path matches the typed one: exactly, or by prefix if it is the last one typed.
        func fits(_ part: String, _ position: Int) -> Bool {
            if position >= parts.count { return true }
            if isFolded { return fits(FoldedText.bytes(part), position) }
            return part.withBytes { fits($0, position) }
        }

        private func fits(_ part: some Collection<UInt8>, _ position: Int) -> Bool {
            position == parts.count - 1 ? part.starts(with: parts[position]) : part.elementsEqual(parts[position])
        }
    }

    /// The prefix of a path, with the opening quote that the whole path needs.
    private static func opened(_ start: String) -> String {
        Quoting.needsQuotes(start) ? String(Quoting.json(start).dropLast()) : start
    }
}

extension Argument.Tweaks {
    fileprivate func holds(_ node: TweakNode) -> Bool {
        switch self {
        case .all: true
        case .settable: node.isSettable
        case .actions: node.definition.kind == .action
        }
    }
}
