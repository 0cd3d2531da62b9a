// Writes a fleet's keys as operators do: judges what is there, then one transaction, again where others were faster.

import Tweaks

/// An operator of one fleet.
package struct FleetOperator: Sendable {
    package let etcd: any Etcd
    package let keys: FleetKeys
    /// Who: the name at the host.
    package let by: String
    /// The time of day, in milliseconds since 1970.
    package let now: @Sendable () -> Int64
    /// Judges, and writes nothing.
    package var isDryRun = false
    /// Makes IDs of rollouts.
    package let makeID: @Sendable () -> String

    package init(
        _ etcd: any Etcd, _ keys: FleetKeys, by: String, now: @escaping @Sendable () -> Int64,
        makeID: @escaping @Sendable () -> String = FleetOperator.randomID
    ) {
        (self.etcd, self.keys, self.by, self.now, self.makeID) = (etcd, keys, by, now, makeID)
    }

    /// The log keeps so many entries.
    package static let logLength = 200
    /// So often a lost race is run again.
    static let mostAttempts = 8

    /// Six letters and digits that nobody mistakes for others.
    package static func randomID() -> String {
        String((0..<6).compactMap { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() })
    }

    // MARK: Reading

    /// All desired keys at one revision.
    package func look() async throws(FleetRefusal) -> OperatorView {
        OperatorView(try await range(.prefix(keys.desired)), keys)
    }

    func range(_ range: EtcdKeys, limit: Int = 0, keysOnly: Bool = false) async throws(FleetRefusal) -> EtcdRangeResult
    {
        do throws(EtcdError) {
            return try await etcd.range(EtcdRange(range, limit: limit, keysOnly: keysOnly))
        } catch {
            throw FleetRefusal(error)
        }
    }

    /// The log entries that the next one pushes out. However they came to be so many, they become fewer.
    private func outdated() async throws(FleetRefusal) -> [[UInt8]] {
        let oldest = try await range(.prefix(keys.log), limit: 8, keysOnly: true)
        let surplus = oldest.count - Int64(Self.logLength) + 1
        return surplus <= 0 ? [] : oldest.keys.prefix(Int(clamping: surplus)).map(\.key)
    }

    // MARK: Writing

    /// Judges what is there, and writes; where others were faster, judges anew.
    /// - Parameter judge: What to write; nil: there is nothing to change.
    func write(
        _ judge: (OperatorView) throws(FleetRefusal) -> FleetEdit?
    ) async throws(FleetRefusal) -> FleetReceipt {
        var reason = "\(keys.name): others write all the time; try again"
        for attempt in 0..<Self.mostAttempts {
            // Two that write all the time keep in step, and one of them would always be the late one.
            if attempt > 0 { try? await Task.sleep(for: .milliseconds(Int64.random(in: 0...min(5 << attempt, 200)))) }
            var view = try await look()
            guard let edit = try judge(view) else {
                return FleetReceipt(header: view.header, notes: ["there is nothing to change"])
            }
            view.outdated = try await outdated()
            switch try await commit(edit, view) {
            case .done(let receipt): return receipt
            case .raced: break
            case .leaseEnded: reason = "\(edit.what): the lease that it needs has ended; begin anew"
            }
        }
        throw FleetRefusal(.refused, reason)
    }

    /// What came of an attempt.
    private enum Attempt {
        case done(FleetReceipt)
        /// What was judged is no longer so.
        case raced
        /// A lease ended between reading and writing, and took its rollout along.
        case leaseEnded
    }

    private func commit(_ edit: FleetEdit, _ view: OperatorView) async throws(FleetRefusal) -> Attempt {
        let (transaction, entry) = try edit.transaction(view, keys, by: by, at: now())
        var receipt = FleetReceipt(
            header: view.header, rollout: edit.rollout, changes: edit.changes, notes: edit.notes)
        if view.head == nil, edit.verb != "adopt" { receipt.notes.append(Self.firstWrite) }
        if isDryRun {
            receipt.isDryRun = true
            receipt.notes.append("a dry run: nothing is written")
            return .done(receipt)
        }
        let result: EtcdTransactionResult
        do throws(EtcdError) {
            result = try await etcd.commit(transaction)
        } catch {
            if error == .leaseNotFound { return .leaseEnded }
            let refusal = FleetRefusal(error, wasWriting: true)
            // A member that is going may have done it, and others say so.
            guard refusal.kind == .unreachable, let revision = try? await revision(of: entry) else { throw refusal }
            (receipt.header.revision, receipt.sequence) = (revision, entry.sequence)
            return .done(receipt)
        }
        if !result.succeeded {
            guard let revision = try await revision(of: entry) else {
                try edit.checkFences(result.responses)
                return .raced
            }
            receipt.header.revision = revision
        } else {
            receipt.header = result.header
        }
        receipt.sequence = entry.sequence
        return .done(receipt)
    }

    /// When a log entry was written, where it was: a member that died after it had done a write is not heard of it, and the
    /// next one is asked for a write that can no longer be.
    private func revision(of entry: FleetLogEntry) async throws(FleetRefusal) -> Int64? {
        try await range(.key(keys.log(entry.sequence))).keys.first { $0.value == entry.bytes }?.modRevision
    }

    private static let firstWrite =
        "the first write of this fleet in this etcd; processes that followed another etcd wait for adopt"
}
