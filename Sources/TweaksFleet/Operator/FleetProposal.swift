// Proposes changes that take effect when another operator approves them, as etcd's users prove.

import Tweaks

/// `proposals/ID`: changes that wait for approval.
package struct FleetProposal: Hashable, Sendable {
    package var changes: [FleetLogEntry.Change]
    package var by: String
    package var at: Int64

    package init(changes: [FleetLogEntry.Change], by: String, at: Int64) {
        self.changes = changes
        self.by = by
        self.at = at
    }

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        // Proposals have the form of the log entry that they become.
        let entry = try FleetLogEntry(bytes)
        guard !entry.changes.isEmpty, entry.changes.allSatisfy({ $0.new != nil }) else {
            throw FleetProblem("“changes” is empty, or lacks a value")
        }
        self.init(changes: entry.changes, by: entry.by, at: entry.at)
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        FleetLogEntry(sequence: 0, verb: "propose", changes: changes, by: by, at: at).bytes
    }
}

extension FleetOperator {
    /// The proposals by ID, with the etcd user who has proved to have made them; nil for one that cannot be read.
    package func proposals() async throws(FleetRefusal) -> [(id: String, proposal: FleetProposal?, author: String?)] {
        let pairs = try await range(.prefix(keys.proposals)).keys
        let authors = try await authors()
        return pairs.map { pair in
            let proposal = try? FleetProposal(pair.value)
            let author: String? =
                if case .proved(let name)? = authors.verdict(at: pair.modRevision) { name } else { nil }
            return (String(decoding: pair.key.dropFirst(keys.proposals.count), as: UTF8.self), proposal, author)
        }
    }

    /// Proposes values, which nothing applies until another operator approves them.
    package func propose(_ assignments: [FleetAssignment]) async throws(FleetRefusal) -> FleetReceipt {
        try FleetAssignment.check(assignments, "propose")
        let id = makeID()
        return try await write("propose") { view throws(FleetRefusal) in
            let changes = assignments.map {
                FleetLogEntry.Change(path: $0.path, old: view.value($0.path), new: $0.value)
            }
            var edit = FleetEdit("propose", FleetEdit.summary("propose", changes.map(\.path)), rollout: id)
            edit.changes = changes
            let proposal = FleetProposal(changes: changes, by: by, at: now())
            edit.operations = [.put(key: keys.proposal(id), value: proposal.bytes)]
            return edit
        }
    }

    /// Applies a proposal of another operator.
    /// - Parameter force: Also if values have changed since it was made.
    package func approve(_ id: String, force: Bool = false) async throws(FleetRefusal) -> FleetReceipt {
        try await write("approve") { view async throws(FleetRefusal) in
            let (proposal, pair) = try await readProposal(id)
            try await checkApproval(id, pair)
            try view.checkFree(proposal.changes.map(\.path))
            for change in proposal.changes where !force && view.value(change.path) != change.old {
                throw FleetRefusal(
                    "\(change.path.token) is \(view.value(change.path).shown) now, and proposal \(id) found "
                        + "\(change.old.shown); propose it again, or --force writes over it")
            }
            let changes = proposal.changes.map {
                FleetLogEntry.Change(path: $0.path, old: view.value($0.path), new: $0.new)
            }
            guard var edit = edit("approve", changes, view) else { return nil }
            (edit.what, edit.rollout) = ("approve \(id)", id)
            edit.why = "proposed by \(proposal.by)"
            edit.operations.append(.delete(.key(pair.key)))
            edit.revisions[pair.key] = pair.modRevision
            return edit
        }
    }

    /// Throws unless two etcd users have proposed and approve.
    private func checkApproval(_ id: String, _ pair: EtcdKeyValue) async throws(FleetRefusal) {
        guard let user, etcd.isSignedIn else {
            throw FleetRefusal(
                "approve \(id): only an etcd user can approve; "
                    + (user == nil ? "sign in with --user and --password-file" : "etcd's authentication is off"))
        }
        guard case .proved(let author)? = try await authors().verdict(at: pair.modRevision) else {
            throw FleetRefusal("approve \(id): no etcd user proves to have proposed it; propose it signed in")
        }
        if author == user {
            throw FleetRefusal("approve \(id): \(user) has proposed it; another operator approves it")
        }
    }

    /// Removes a proposal.
    package func reject(_ id: String) async throws(FleetRefusal) -> FleetReceipt {
        let key = keys.proposal(id)
        return try await write("reject") { _ async throws(FleetRefusal) in
            // An unreadable one can be removed, too.
            guard let pair = try await range(.key(key), keysOnly: true).keys.first else { throw try await unknown(id) }
            var edit = FleetEdit("reject", "reject \(id)", rollout: id)
            edit.operations = [.delete(.key(key))]
            edit.revisions[key] = pair.modRevision
            return edit
        }
    }

    private func readProposal(_ id: String) async throws(FleetRefusal) -> (FleetProposal, EtcdKeyValue) {
        guard let pair = try await range(.key(keys.proposal(id))).keys.first else { throw try await unknown(id) }
        do throws(FleetProblem) {
            return (try FleetProposal(pair.value), pair)
        } catch {
            throw FleetRefusal("proposal \(id) cannot be read: \(error.text); reject \(id) removes it")
        }
    }

    private func unknown(_ id: String) async throws(FleetRefusal) -> FleetRefusal {
        let known = try await proposals().map(\.id)
        let remedy = known.isEmpty ? "there is none" : "there are \(known.joined(separator: ", "))"
        return FleetRefusal("there is no proposal \(Quoting.excerpt(id)); \(Quoting.sanitized(remedy))")
    }
}
