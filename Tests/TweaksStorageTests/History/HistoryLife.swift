// A run of a program that keeps its history, and what the next one finds.

import Foundation
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

extension StoredLife {
    /// A life whose history is kept in this directory.
    static func withHistory(
        _ directory: String, files: any FileSystem = PosixFileSystem(), time: any StorageTime = SystemTime(),
        registry: TweakRegistry? = nil
    ) -> StoredLife {
        StoredLife(directory, files: files, keepsHistory: true, time: time, registry: registry)
    }

    var historyFile: String { "\(directory)/history.jsonl" }

    /// The history file, line by line.
    var historyLines: [String] {
        let bytes = FileManager.default.contents(atPath: historyFile) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
    }

    /// One commit of a session.
    func set(_ name: String, _ value: Double?, by session: UInt64 = 1) throws {
        var batch = TweakBatch()
        if let value { batch.set("A/B/\(name)", .number(value)) } else { batch.reset("A/B/\(name)") }
        try registry.commit(
            batch, origin: TweakOrigin("session \(session)"), kind: .change(session: session), delivery: .caller)
    }
}

extension TweakRegistry {
    /// The history, newest first: `3 session 1: X 1→2`.
    var entries: [String] {
        history.map { entry in
            let changes = entry.changes.map { "\($0.path.name) \($0.old?.text ?? "?")→\($0.new?.text ?? "?")" }
            let what =
                switch entry.kind {
                case .undo(let revision): " undid \(revision)"
                case .redo(let revision): " redid \(revision)"
                default: ""
                }
            return "\(entry.revision) \(entry.origin)\(what)\(entry.isUndone ? " undone" : ""): "
                + changes.joined(separator: ", ")
        }
    }
}
