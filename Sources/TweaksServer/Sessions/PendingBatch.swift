// Collects the changes of a session between begin and commit.

import Tweaks

/// An open batch.
struct PendingBatch {
    /// The commit is refused if one of its tweaks changed after this revision.
    let revision: UInt64?
    private(set) var changes = TweakBatch()
    /// The tweaks of the changes, in order.
    private(set) var nodes: [TweakNode] = []
    /// The first error; `commit` answers it and changes nothing.
    private(set) var failure: TweakError?
    /// The expected value of each tweak after the changes so far, so that a `+=` is validated against it.
    private var expected: [TweakPath: TweakBatch.Change] = [:]

    /// Its approximate size in memory, in bytes.
    private(set) var memorySize = 0

    init(revision: UInt64?) { self.revision = revision }

    /// Validates a change and adds it to the batch.
    /// - Returns: The change in words.
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
        // Validated again at the commit, when the underlying values of a `+=` may differ.
        let forecast = try registry.forecast(trial).first
        if case .reset = change {
            expected[node.path] = .reset
        } else if let forecast {
            expected[node.path] = .set(forecast.new)
        }
        changes.append(node, change, for: lifetime)
        nodes.append(node)
        memorySize += 512 + (change.textBytes ?? 0)
        switch change {
        case .reset: return "reset \(node.path.token)"
        case .keep: return "keep \(node.path.token)"
        default: return "\(node.path.token) = \(forecast.map { node.shown($0.new).text } ?? "")"
        }
    }

    mutating func fail(_ error: TweakError) {
        if failure == nil { failure = error }
    }
}

extension TweakError {
    /// Whether the error is temporary, so that the batch stays open and need not be typed again.
    package var leavesBatchOpen: Bool { code == .tooMany || limit == .abandonedRequests }

    /// Returns the error with its consequence for the batch appended.
    func adding(_ consequence: String) -> TweakError {
        TweakError(code, "\(message); \(consequence)", path: path, limit: limit, isMissing: isMissing)
    }
}
