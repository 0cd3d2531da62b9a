// Runs an operator's reads and writes: each write is validated, sent as one transaction, and retried on conflict.

package import Tweaks

/// An operator of one fleet.
package struct FleetOperator: Sendable {
    package let etcd: any Etcd
    package let keys: FleetKeys
    /// The operator: user@host.
    package let by: String
    /// The etcd user that has signed in, if etcd knows users; its writes are proved.
    package var user: String?
    /// The wall clock, in milliseconds since 1970.
    package let now: @Sendable () -> Int64
    /// Validates writes without sending them.
    package var isDryRun = false
    /// The fleet's values that a user has seen, as text, nil without one: a write is refused if one differs.
    package var seen: [TweakPath: String?] = [:]
    /// A comparison that each write includes, such as the driver's claim.
    private(set) var fence: EtcdTransaction.Compare?
    /// Generates IDs of rollouts.
    package let makeID: @Sendable () -> String

    package init(
        _ etcd: any Etcd, _ keys: FleetKeys, by: String, now: @escaping @Sendable () -> Int64,
        makeID: @escaping @Sendable () -> String = FleetOperator.randomID
    ) {
        self.etcd = etcd
        self.keys = keys
        self.by = by
        self.now = now
        self.makeID = makeID
    }

    /// The operator as the driver of a rollout: its writes fail after the claim is lost.
    package func fenced(by fence: EtcdTransaction.Compare) -> FleetOperator {
        var fenced = self
        fenced.fence = fence
        return fenced
    }

    /// The number of entries that the log keeps.
    package static let logLength = 200
    /// The maximum number of attempts after conflicts: what stops something must not lose against an import in parts.
    private static func maxAttempts(_ verb: String) -> Int { FleetEdit.isBrake(verb) ? 60 : 12 }

    /// Six letters and digits, without characters that are easily confused.
    package static func randomID() -> String {
        String((0..<6).compactMap { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() })
    }

    // MARK: Reading

    /// Reads all desired keys at one revision.
    package func readState() async throws(FleetRefusal) -> OperatorView {
        OperatorView(try await range(.prefix(keys.desired)), keys)
    }

    func range(
        _ range: EtcdKeys, limit: Int = 0, keysOnly: Bool = false
    ) async throws(FleetRefusal) -> EtcdRangeResult {
        do throws(EtcdError) {
            return try await etcd.range(EtcdRange(range, limit: limit, keysOnly: keysOnly))
        } catch {
            throw FleetRefusal(error)
        }
    }

    /// Returns the log entries to delete with the next write, also catching up on any surplus.
    private func outdated() async throws(FleetRefusal) -> [[UInt8]] {
        let oldest = try await range(.prefix(keys.log), limit: 8, keysOnly: true)
        // etcd's count can be any number.
        let surplus = max(0, oldest.count) - Int64(Self.logLength) + 1
        return surplus <= 0 ? [] : oldest.keys.prefix(Int(clamping: surplus)).map(\.key)
    }

    // MARK: Writing

    /// Reads the current state and writes an edit based on it; starts again after a conflict.
    /// - Parameters:
    ///   - verb: The command of the edit.
    ///   - paths: The paths of the edit, if only their values are to be read; nil to read all.
    ///   - makeEdit: Returns the edit; nil if nothing changes.
    func write(
        _ verb: String, reading paths: [TweakPath]? = nil,
        _ makeEdit: (OperatorView) async throws(FleetRefusal) -> FleetEdit?
    ) async throws(FleetRefusal) -> FleetReceipt {
        var refusal = FleetRefusal(.suspended, "\(keys.name): too many concurrent writes; try again")
        for attempt in 0..<Self.maxAttempts(verb) {
            // A random delay keeps two frequent writers from staying in step, where one would always lose.
            let delay = Int64.random(in: 0...min(5 << min(attempt, 6), 200))
            if attempt > 0 { try? await Task.sleep(for: .milliseconds(delay)) }
            var view = if let paths { try await readState(of: paths) } else { try await readState() }
            // Before the edit, which may grant leases. Whether the end of a rollout changes anything, only the edit tells.
            if verb != "finish", try await !isAllowed(FleetEdit(verb, verb), view) { continue }
            // In each attempt, since another operator may have been faster.
            try view.check(seen)
            guard var edit = try await makeEdit(view) else {
                return FleetReceipt(header: view.header, notes: ["there is nothing to change"])
            }
            if verb == "finish", try await !isAllowed(edit, view) { continue }
            if paths == nil { try view.checkRoom(for: edit.operations, keys) }
            edit.fence = edit.fence ?? fence
            view.outdated = try await outdated()
            switch try await commit(edit, view) {
            case .done(let receipt): return receipt
            case .raced: break
            case .leaseEnded:
                refusal = FleetRefusal("\(edit.what): the lease that it needs has ended; begin anew")
            }
        }
        throw refusal
    }

    /// Throws if the fleet is frozen, or processes would not follow.
    /// - Returns: False if the state must be read again.
    private func isAllowed(_ edit: FleetEdit, _ view: OperatorView) async throws(FleetRefusal) -> Bool {
        if edit.isFreezable(view) { try await checkFreezes() }
        // A store that was emptied can be filled before it is adopted.
        if FleetEdit.isBrake(edit.verb) || edit.isHarmless || ["adopt", "import"].contains(edit.verb) { return true }
        return try await isFollowed(view)
    }

    /// Throws if live processes would not follow a write.
    /// - Returns: False if a later write explains what they report.
    private func isFollowed(_ view: OperatorView) async throws(FleetRefusal) -> Bool {
        let live = try await instanceStatuses().live
        do throws(FleetRefusal) {
            try view.checkPast(live, keys)
            return true
        } catch {
            let head = try await range(.key(keys.head)).keys.first
            if head?.modRevision ?? 0 == view.head?.modRevision ?? 0 { throw error }
            return false
        }
    }

    /// The result of an attempt.
    private enum Attempt {
        case done(FleetReceipt)
        /// The state changed between reading and writing.
        case raced
        /// A lease expired between reading and writing, together with its rollout.
        case leaseEnded
    }

    private func commit(_ edit: FleetEdit, _ view: OperatorView) async throws(FleetRefusal) -> Attempt {
        let (transaction, entry) = try edit.transaction(view, keys, by: by, at: now(), user: try await signedIn())
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
            // A failing member may have applied it; ask the others.
            guard refusal.kind == .unreachable, let revision = try? await revision(of: entry) else { throw refusal }
            receipt.header.revision = revision
            receipt.sequence = entry.sequence
            return .done(receipt)
        }
        if !result.succeeded {
            guard let revision = try await revision(of: entry) else {
                try edit.checkFence(result.responses.first)
                return .raced
            }
            receipt.header.revision = revision
        } else {
            receipt.header = result.header
        }
        receipt.sequence = entry.sequence
        return .done(receipt)
    }

    /// Returns the revision at which a log entry was written, if it was. If a member dies after applying a write, its
    /// reply is lost, and a retry fails its comparison.
    private func revision(of entry: FleetLogEntry) async throws(FleetRefusal) -> Int64? {
        try await range(.key(keys.log(entry.sequence))).keys.first { $0.value == entry.bytes }?.modRevision
    }

    private static let firstWrite =
        "the first write of this fleet in this etcd; processes that followed another etcd wait for adopt"
}

/// Why a command failed or has an unknown result: subject, problem, remedy.
package struct FleetRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The fleet's state or etcd does not allow it.
        case refused
        /// The command is invalid.
        case usage
        /// etcd does not reply.
        case unreachable
        /// Nothing is written for now: the fleet is frozen, processes would not follow, or others write all the time.
        case suspended
        /// Another driver has the rollout, or none.
        case claimLost
    }

    package let kind: Kind
    package let description: String
    /// The underlying etcd error, if any.
    package let etcd: EtcdError?

    package init(_ kind: Kind, _ description: String, etcd: EtcdError? = nil) {
        self.kind = kind
        self.description = description
        self.etcd = etcd
    }

    /// The fleet's state or etcd does not allow it.
    init(_ description: String) { self.init(.refused, description) }
}

extension FleetRefusal {
    /// Describes an etcd error to an operator.
    /// - Parameter wasWriting: The reply to a write is missing, so it may have been applied.
    package init(_ error: EtcdError, wasWriting: Bool = false) {
        let (kind, text) = Self.meaning(of: error)
        let doubt = wasWriting && kind == .unreachable ? "; whether it was written is not known, look at history" : ""
        self.init(kind, "etcd: \(Quoting.sanitized(text))\(doubt)", etcd: error)
    }

    private static func meaning(of error: EtcdError) -> (Kind, String) {
        switch error {
        case .unreachable(let text): (.unreachable, "\(text); start it, or name another with --etcd URL")
        case .unavailable(let text): (.unreachable, "\(text); try again when it has a leader")
        case .unauthenticated(let text): (.refused, "\(text); name a user with --user and --password-file")
        case .forbidden(let text): (.refused, "\(text); ask for the operator's role on this prefix")
        case .noSpace(let text):
            (.refused, "\(text); compact and defragment it, then disarm its alarm. abort works meanwhile")
        case .compacted(let revision): (.refused, "what came before revision \(revision) is compacted; try again")
        case .futureRevision(let text): (.refused, "\(text); this is another etcd than before")
        case .leaseNotFound: (.refused, "the lease is gone; try again")
        case .tooLarge(let text): (.refused, text)
        case .refused(let text): (.refused, "it refused the request: \(text)")
        case .garbled(let text): (.refused, "\(text); is this etcd, and its JSON gateway on?")
        case .cancelled: (.unreachable, "interrupted")
        }
    }
}
