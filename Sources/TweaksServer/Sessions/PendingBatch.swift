// The changes that a session collects between begin and commit.

import Tweaks

/// An open batch.
struct PendingBatch {
    /// The commit is refused if one of its tweaks changed after this.
    let revision: UInt64?
    private(set) var changes = TweakBatch()
    /// The tweaks that are named, in order.
    private(set) var nodes: [TweakNode] = []
    /// The first error; `commit` answers it and changes nothing.
    private(set) var failure: TweakError?
    /// What each tweak would be after the changes so far, so that a `+=` is judged on top of that.
    private var expected: [TweakPath: TweakBatch.Change] = [:]

    /// Its approximate size in memory, in bytes.
    private(set) var heldBytes = 0

    init(revision: UInt64?) { self.revision = revision }

    /// Judges a change now and keeps it for the commit.
    /// - Returns: What was understood, in words.
    mutating func append(
        _ node: TweakNode, _ change: TweakBatch.Change, for lifetime: Duration?, registry: TweakRegistry, limit: Int
    ) throws(TweakError) -> String {
        if changes.count >= limit {
            throw TweakError(
                .tooMany, "a batch holds at most \(limit) changes; commit, then begin again", limit: .batchChanges)
        }
        var trial = TweakBatch()
        if let before = expected[node.path] { trial.append(node, before) }
        trial.append(node, change, for: lifetime)
        // Judged again at the commit, when the values beneath a `+=` may be others.
        let forecast = try registry.forecast(trial).first
        if case .reset = change {
            expected[node.path] = .reset
        } else if let forecast {
            expected[node.path] = .set(forecast.new)
        }
        changes.append(node, change, for: lifetime)
        nodes.append(node)
        heldBytes += 512 + (change.textBytes ?? 0)
        switch change {
        case .reset: return "reset \(node.path.token)"
        case .keep: return "keep \(node.path.token)"
        default: return "\(node.path.token) = \(forecast.map { node.shownText($0.new) } ?? "")"
        }
    }

    mutating func fail(_ error: TweakError) {
        if failure == nil { failure = error }
    }
}

extension TweakError {
    /// It came too soon: no reason to type all of a batch again, which stays open.
    package var leavesBatchOpen: Bool { code == .tooMany || limit == .abandonedRequests }

    /// The same with what it means for the batch.
    func adding(_ consequence: String) -> TweakError {
        TweakError(code, "\(message); \(consequence)", path: path, limit: limit, isMissing: isMissing)
    }
}
