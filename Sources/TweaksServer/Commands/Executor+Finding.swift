// Handles find and complete, whose work runs off the I/O thread.

import Dispatch
import Synchronization
import Tweaks
import TweaksWire

extension Executor {
    /// Finds tweaks that contain every word, best first, off the I/O thread.
    func find(_ words: [String], _ session: Session) throws(TweakError) -> Outcome {
        guard words.count <= limits.findWords else {
            throw .tooMany(.findWords, "find takes at most \(limits.findWords) words; leave some out")
        }
        try refuseIfBusy(session)
        let view = view(session)
        let id = session.id
        finder.queue.async { [finder, mailbox] in
            let found = finder.find(words, view)
            mailbox.post(.done(id, .next { .reply($0.reply(found, $1)) }))
        }
        return .running()
    }

    private func reply(_ found: Finder.Found, _ session: Session) -> Reply {
        let nodes = found.nodes.filter { session.sees($0) }
        var reply = lines(nodes, .explained, for: session)
        if found.more > 0 {
            reply.status = .ok(
                words: "best \(nodes.count), \(found.more) more; add a word to see fewer",
                fields: [("rev", .count(registry.revision)), ("more", .count(found.more))])
        }
        return reply
    }

    /// Returns the completions for a partial line, computed off the I/O thread.
    func complete(_ text: String, _ session: Session) throws(TweakError) -> Outcome {
        try refuseIfBusy(session)
        let completion = Completion(
            view: view(session), commands: commands(for: session).map(\.name), presetNames: hooks.presetNames)
        return runInBackground(session, on: finder.queue) {
            .reply(.rows("candidates", completion.candidates(for: text).map { ([$0], .string($0)) }))
        }
    }
}

/// Searches the tweaks of a registry, and caches the index until the registered tweaks change.
final class Finder: Sendable {
    /// The matching tweaks, without values: these are read when the reply is made, so that no event can be older.
    struct Found: Sendable {
        let nodes: [TweakNode]
        let more: Int
    }

    static let maxResults = 100

    /// The serial queue of `find` and `complete`, off the I/O thread.
    let queue = DispatchQueue(label: "tweaks.find", qos: .userInitiated)
    private let cached = Mutex<[(rights: Rights, generation: UInt64, index: FindIndex)]>([])
    /// The maximum number of indexes to cache, one for each set of rights: they are large.
    private static let maxIndexes = 4

    func find(_ words: [String], _ view: TweakView) -> Found {
        let listing = view.listing
        let snapshot = view.registry.snapshot().settled
        let result = FindQuery(words).run(index(of: listing, view), limit: Self.maxResults) {
            listing.nodes[$0].path.joined
        } value: {
            let node = listing.nodes[$0]
            return node.isSecret ? nil : snapshot.value(of: node)
        }
        return Found(nodes: result.best.map { listing.nodes[$0] }, more: result.count - result.best.count)
    }

    private func index(of listing: TweakListing, _ view: TweakView) -> FindIndex {
        // All views of everything share an index.
        let rights = view.isWhole ? .all : view.rights
        let known = cached.withLock { $0.first { $0.rights == rights && $0.generation == listing.generation }?.index }
        if let known { return known }
        let index = FindIndex(listing)
        cached.withLock { cached in
            cached.removeAll { $0.rights == rights || $0.generation != listing.generation }
            if cached.count >= Self.maxIndexes { cached.removeFirst() }
            cached.append((rights, listing.generation, index))
        }
        return index
    }
}

extension FindIndex {
    /// Indexes the text of one state of a registry.
    init(_ listing: TweakListing) {
        self.init(
            count: listing.count,
            listing.groups.lazy.flatMap { group in
                group.nodes.lazy.map { node in
                    let definition = node.definition
                    return Subject(
                        node.path.joined, (group.category, group.collection, node.path.name),
                        [definition.help, definition.unit] + definition.choices.flatMap { [$0.name, $0.label] })
                }
            })
    }
}

/// Finds the tokens that may end a line.
struct Completion: Sendable {
    let view: TweakView
    var commands = Command.all.map(\.name)
    let presetNames: @Sendable () -> [String]
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
        case .figures: node.isNumericFigure
        }
    }
}
