// Executes the command reload, and formats its reply.

import Dispatch
import TweaksInterface
import Tweaks
import TweaksServer
import TweaksStorage
import TweaksWire

extension TweakServerHooks {
    /// The command reload asks the sources to look for changes, and then reads the config file.
    /// - Parameters:
    ///   - reloader: The config file; nil if there is none.
    ///   - sources: The sources; nil if none is the program's own.
    mutating func setReload(_ reloader: ConfigReloader?, _ sources: OpenSources?, _ registry: TweakRegistry) {
        if let reloader {
            reload = { dry, body in
                let read: @Sendable () -> Void = {
                    reloader.reload(dry: dry) { body(.reload(reloader.path, $0, dry: dry)) }
                }
                if let sources, !dry { Self.ask(sources, then: read) } else { read() }
            }
        } else if let sources {
            reload = { dry, body in
                if dry { return body(.noDryReload) }
                Self.ask(sources) { body(.reloadedSources(registry.revision)) }
            }
        }
    }

    /// The program's code runs on a queue of its own, so that it delays neither the server nor the config file.
    private static func ask(_ sources: OpenSources, then body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "tweaks.sources").async {
            sources.reload()
            body()
        }
    }
}

extension Reply {
    fileprivate static var noDryReload: Reply {
        let text = "no config file is named, and the program's own sources have no dry reload; leave out dry"
        return Reply(.error(TweakError(.io, text)))
    }

    /// The sources commit by themselves.
    fileprivate static func reloadedSources(_ revision: UInt64) -> Reply {
        var reply = Reply(.ok(words: "rev \(revision)", fields: [("rev", .count(revision))]))
        reply.durableRevision = revision
        return reply
    }
}

extension Reply {
    /// The changes that the file made, or every error with its line number.
    static func reload(
        _ file: String, _ result: Result<LayerDifference, ReloadFailure>, dry: Bool
    ) -> Reply {
        switch result {
        case .success(let difference): difference.reply(file, dry: dry)
        case .failure(let failure): failure.reply
        }
    }
}

extension LayerDifference {
    fileprivate func reply(_ file: String, dry: Bool) -> Reply {
        let report = TweakReload(file, self)
        let rows = zip(report.changes, changes).map { change, _ in
            Reply.Item.row(lines: [change.description], json: change.json)
        }
        let most = ConfigReloader.listedProblems
        var pending = report.unknown.prefix(most).map {
            Reply.Item.row(lines: ["\($0); pending"], json: .object([("held", .string($0))]))
        }
        if report.unknownCount > pending.count { pending.append(.more(report.unknownCount - pending.count)) }
        let word = dry ? "dry" : didCommit ? "" : "unchanged"
        var fields: [(String, JSON)] = [("rev", .count(revision)), ("tweaks", .count(count))]
        if !word.isEmpty { fields.append((word, .bool(true))) }
        var reply = Reply(
            .ok(words: "rev \(revision)\(word.isEmpty ? "" : " \(word)")", fields: fields), listName: "changes",
            body: rows.isEmpty && pending.isEmpty ? .none : .items(rows + pending))
        if !dry { reply.durableRevision = revision }
        return reply
    }
}

extension TweakReload.Change {
    fileprivate var json: JSON {
        var fields: [(String, JSON)] = [("path", .string(path.joined))]
        if !isSecret { fields += [("was", old.json), ("value", new.json)] }
        if isRemoved { fields.append(("removed", .bool(true))) }
        if let override { fields.append(("override", isSecret ? .null : override.json)) }
        if let droppedOverride { fields.append(("droppedOverride", isSecret ? .null : droppedOverride.json)) }
        return .object(fields)
    }
}

extension ReloadFailure {
    fileprivate var reply: Reply {
        let rows = problems.map { problem -> Reply.Item in
            let place = problem.line.map { "line \($0): " } ?? ""
            let json: [(String, JSON)] = [
                ("line", problem.line.map { .count($0) } ?? .null), ("code", .string(problem.error.code.rawValue)),
                ("message", .string(problem.error.message)),
            ]
            return .row(lines: ["\(place)\(problem.error)"], json: .object(json))
        }
        let rest = count > problems.count ? [Reply.Item.more(count - problems.count)] : []
        let code = problems.first?.error.code ?? .io
        let error = TweakError(code, "\(path): \(count == 1 ? "1 error" : "\(count) errors"); nothing has changed")
        return Reply(.error(error), listName: "problems", body: .items(rows + rest))
    }
}

extension Reply.Item {
    /// The number of items that are not listed.
    fileprivate static func more(_ count: Int) -> Reply.Item {
        .row(lines: ["… and \(count) more"], json: .object([("more", .count(count))]))
    }
}
