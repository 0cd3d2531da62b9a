// Imports the values of a file: finds what differs from the fleet's, and writes it in parts under one claim.

package import Tweaks

/// A problem of an import, and where it is.
package struct ImportProblem: Hashable, Sendable {
    /// 0 for a problem of the whole file.
    package var line: Int
    package var text: String

    package init(line: Int, text: String) {
        self.line = line
        self.text = text
    }
}

/// The values of a file beside those of a fleet.
package struct FleetImport: Sendable {
    /// The changes that give the fleet the values of the file.
    package struct Difference: Sendable {
        package var added: [FleetLogEntry.Change] = []
        package var changed: [FleetLogEntry.Change] = []
        package var removed: [FleetLogEntry.Change] = []
        /// The number of values that the file lacks and that stay.
        package var lacking = 0
        /// The number of unreadable values that the file lacks. They stay: what they hold may be of a newer version.
        package var unreadable = 0
        /// Otherwise the fleet would have too many keys for a moment, and processes would stop following it.
        fileprivate var removesFirst = false
    }

    /// The file's values, in its order.
    package let assignments: [FleetAssignment]
    private let lines: [TweakPath: Int]
    private let prunes: Bool

    /// The maximum number of values, since a fleet has no more keys.
    package static let maxValues = DesiredState.maxKeys

    /// - Parameters:
    ///   - lines: The line of each path.
    ///   - prunes: Removes the fleet's values that the file lacks.
    package init(_ assignments: [FleetAssignment], lines: [TweakPath: Int], prunes: Bool = false) {
        self.assignments = assignments
        self.lines = lines
        self.prunes = prunes
    }

    package func difference(from view: OperatorView) -> Difference {
        var difference = Difference()
        for assignment in assignments {
            guard let change = view.change(assignment) else { continue }
            let isNew = view.revision(of: change.path) == 0
            if isNew { difference.added.append(change) } else { difference.changed.append(change) }
        }
        let named = Set(assignments.map(\.path))
        let lacking = view.values.keys.filter { !named.contains($0) }
        difference.unreadable = view.unreadableValues.count { !named.contains($0) }
        if prunes {
            difference.removed = lacking.sorted { $0.joined.utf8.lexicographicallyPrecedes($1.joined.utf8) }
                .compactMap { view.removal(of: $0) }
        } else {
            difference.lacking = lacking.count
        }
        difference.removesFirst = view.count + difference.added.count > DesiredState.maxKeys
        return difference
    }

    /// Returns why the fleet does not allow the changes.
    package func problems(of difference: Difference, in view: OperatorView) -> [ImportProblem] {
        let reserved = reserved(difference.all, in: view)
        do throws(FleetRefusal) {
            try view.checkRoom(for: difference.all)
            return reserved
        } catch {
            return reserved + [ImportProblem(line: 0, text: error.description)]
        }
    }

    /// Returns the changes that open rollouts forbid.
    fileprivate func reserved(_ changes: [FleetLogEntry.Change], in view: OperatorView) -> [ImportProblem] {
        changes.compactMap { change in
            guard let text = view.reservation(of: change.path) else { return nil }
            guard let line = lines[change.path] else {
                return ImportProblem(line: 0, text: "\(text), or leave out --prune")
            }
            return ImportProblem(line: line, text: text)
        }
    }
}

extension FleetImport.Difference {
    /// In the order in which they are written: removals last, if they can be.
    package var all: [FleetLogEntry.Change] { removesFirst ? removed + changed + added : added + changed + removed }

    package var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

    /// Divides the changes into writes within the limits of a transaction.
    package func parts(_ keys: FleetKeys, by: String) -> [[FleetLogEntry.Change]] {
        var parts: [[FleetLogEntry.Change]] = []
        var (desired, request) = (0, 0)
        for change in all {
            let size = change.size(keys, by: by)
            desired += size.desired
            request += size.desired + size.logged
            let isFull =
                (parts.last?.count ?? FleetEdit.maxChanges) >= FleetEdit.maxChanges || desired > FleetEdit.maxBytes
                || request > FleetEdit.maxRequestBytes - Self.reserve
            if isFull {
                parts.append([])
                (desired, request) = (size.desired, size.desired + size.logged)
            }
            parts[parts.count - 1].append(change)
        }
        return parts
    }

    /// The result of an import that writes nothing.
    package func unwritten(_ header: EtcdHeader, isDryRun: Bool) -> FleetReceipt {
        let note = isEmpty ? "there is nothing to change" : "a dry run: nothing is written"
        return FleetReceipt(header: header, changes: all, notes: [note], isDryRun: isDryRun)
    }

    /// Room in a request for the head and the other fields of the log entry, in bytes.
    private static let reserve = 32_768
}

extension FleetLogEntry.Change {
    /// The bytes that a write of the change takes: the value with its key, and its part of the log entry.
    fileprivate func size(_ keys: FleetKeys, by: String) -> (desired: Int, logged: Int) {
        let value = new.map { DesiredValue(value: $0, by: by, at: 1).bytes.count + keys.value(path).count } ?? 0
        return (value, FleetLogEntry(sequence: 0, verb: "import", changes: [self], by: "", at: 1).bytes.count)
    }
}

/// The parts of an import that are written.
package struct ImportReceipt: Sendable {
    package private(set) var parts: [FleetReceipt] = []
    /// The number of parts of the whole import.
    package let planned: Int
    /// Why the remaining parts are not written; nil if all are.
    package fileprivate(set) var failure: FleetRefusal?

    fileprivate init(planned: Int) { self.planned = planned }

    fileprivate mutating func add(_ part: FleetReceipt) { parts.append(part) }

    /// The numbers of the parts' log entries. A part that another operator wrote meanwhile has none.
    package var entries: [UInt64] { parts.compactMap(\.sequence) }
}

extension FleetOperator {
    /// Writes the changes of an import in parts. Each is one transaction, which only succeeds while no other import can
    /// have begun; other writes are not affected.
    /// - Parameters:
    ///   - shouldStop: Called before each part.
    ///   - didWrite: Called after each part.
    package func write(
        _ plan: FleetImport, _ parts: [[FleetLogEntry.Change]], host: String, pid: Int64,
        shouldStop: @Sendable () -> Bool = { false }, didWrite: (FleetReceipt) -> Void = { _ in }
    ) async throws(FleetRefusal) -> ImportReceipt {
        let claim = try await claimImport(host: host, pid: pid)
        let fenced = fenced(by: claim.fence)
        var receipt = ImportReceipt(planned: parts.count)
        do throws(FleetRefusal) {
            for (index, part) in parts.enumerated() {
                if shouldStop() { throw FleetRefusal("import: interrupted") }
                // Other writers need a moment in which the head stays.
                if !receipt.parts.isEmpty { try? await Task.sleep(for: Self.partPause) }
                try await fenced.renew(claim)
                let name = parts.count > 1 ? "part \(index + 1) of \(parts.count)" : nil
                let written = try await fenced.write(part, of: plan, named: name)
                receipt.add(written)
                didWrite(written)
            }
        } catch {
            receipt.failure = await holds(claim) ? error : Self.lostImport
        }
        await release(claim)
        return receipt
    }

    private static let partPause = Duration.milliseconds(100)

    private func write(
        _ part: [FleetLogEntry.Change], of plan: FleetImport, named name: String?
    ) async throws(FleetRefusal) -> FleetReceipt {
        try await write("import", reading: part.map(\.path)) { view throws(FleetRefusal) in
            // Others may have written since the difference was found.
            let changes = part.compactMap { change in
                change.new.map { view.change(FleetAssignment(change.path, $0)) } ?? view.removal(of: change.path)
            }
            if let problem = plan.reserved(changes, in: view).first {
                throw FleetRefusal(problem.line == 0 ? problem.text : "line \(problem.line): \(problem.text)")
            }
            var edit = edit("import", changes, view)
            edit?.why = name
            return edit
        }
    }

    /// Reads the head, the rollouts and the values of some paths, at one revision. A part of an import needs no others,
    /// and to read all for each part would take time with the square of their number.
    func readState(of paths: [TweakPath]) async throws(FleetRefusal) -> OperatorView {
        let ranges = [.key(keys.head), .prefix(keys.rollouts)] + paths.map { EtcdKeys.key(keys.value($0)) }
        do throws(EtcdError) {
            let result = try await etcd.commit(EtcdTransaction(then: ranges.map { .range($0) }))
            let pairs = result.responses.flatMap { response in
                if case .range(let range) = response { range.keys } else { [EtcdKeyValue]() }
            }
            return OperatorView(EtcdRangeResult(header: result.header, keys: pairs), keys)
        } catch {
            throw FleetRefusal(error)
        }
    }

    // MARK: The claim

    /// Reads who writes an import now; nil if there is none, or its claim cannot be read.
    package func importer() async throws(FleetRefusal) -> FleetDriver? {
        try await range(.key(keys.importClaim)).keys.first.flatMap { try? FleetDriver($0.value) }
    }

    private func claimImport(host: String, pid: Int64) async throws(FleetRefusal) -> DriverClaim {
        let (lease, key) = (try await grant(seconds: DriverClaim.seconds), keys.importClaim)
        let put = EtcdTransaction.Operation.put(
            key: key, value: FleetDriver(host: host, pid: pid, by: by, at: now()).bytes, lease: lease.id)
        let result: EtcdTransactionResult
        do throws(EtcdError) {
            result = try await etcd.commit(
                EtcdTransaction(if: [.modRevision(key, equals: 0)], then: [put], otherwise: [.range(.key(key))]))
        } catch {
            throw FleetRefusal(error, wasWriting: true)
        }
        var revision = result.succeeded ? result.header.revision : 0
        var other: EtcdKeyValue?
        if !result.succeeded, case .range(let range)? = result.responses.first, let pair = range.keys.first {
            // With this lease, a member applied the write, but its reply was lost.
            if pair.lease == lease.id { revision = pair.createRevision } else { other = pair }
        }
        if revision != 0 {
            return DriverClaim(id: "import", lease: lease, fence: .createRevision(key, equals: revision))
        }
        try? await etcd.revokeLease(lease.id)
        throw Self.isImported(by: other)
    }

    private static func isImported(by claim: EtcdKeyValue?) -> FleetRefusal {
        let other = claim.flatMap { try? FleetDriver($0.value) }
        let who = other.map { "\($0.by) (process \($0.pid) on \($0.host))" } ?? "another operator"
        if let claim, claim.lease == 0 {
            let key = String(decoding: claim.key, as: UTF8.self)
            return FleetRefusal(
                "import: the claim of \(who) has no lease; if none is running, etcdctl del \(key) ends it")
        }
        return FleetRefusal(
            "import: one by \(who) is being written; wait until it is done, or, if its process is gone, until its "
                + "lease of \(DriverClaim.seconds) s is over")
    }

    private func renew(_ claim: DriverClaim) async throws(FleetRefusal) {
        do throws(EtcdError) {
            if try await etcd.keepAlive(claim.lease.id) == nil { throw EtcdError.leaseNotFound }
        } catch {
            throw FleetRefusal(error)
        }
    }

    /// Whether a claim is not known to be lost.
    private func holds(_ claim: DriverClaim) async -> Bool {
        guard let range = try? await range(.key(claim.fence.key)) else { return true }
        return claim.fence.holds(for: range.keys.first)
    }

    private static let lostImport = FleetRefusal(
        "import: its lease of \(DriverClaim.seconds) s has ended, since etcd did not answer in time")
}

extension OperatorView {
    /// The number of keys that count towards the maximum of a fleet.
    var count: Int { values.count + rollouts.count + unreadable.count }

    /// Throws if processes would not follow the fleet after the changes, because it has too many keys.
    func checkRoom(for changes: [FleetLogEntry.Change]) throws(FleetRefusal) {
        let added = changes.count { $0.new != nil && revision(of: $0.path) == 0 }
        let sum = count + added - changes.count { $0.new == nil }
        if added == 0 || sum <= DesiredState.maxKeys { return }
        throw FleetRefusal(
            "with \(added) more the fleet has \(sum) values and rollouts, and processes follow at most "
                + "\(DesiredState.maxKeys); reset some, or remove by import --prune what a file lacks")
    }

    /// Throws if processes would not follow the fleet after these operations.
    func checkRoom(for operations: [EtcdTransaction.Operation], _ keys: FleetKeys) throws(FleetRefusal) {
        var (added, removed) = (0, 0)
        for operation in operations {
            switch operation {
            case .put(let key, _, _) where key.starts(with: keys.desired) && revision(of: key) == 0: added += 1
            case .delete(.key(let key)) where revision(of: key) != 0: removed += 1
            default: break
            }
        }
        if added <= removed || count + added - removed <= DesiredState.maxKeys { return }
        throw FleetRefusal(
            "with \(added) more the fleet has \(count + added - removed) values and rollouts, and processes follow at most "
                + "\(DesiredState.maxKeys); reset some, or remove by import --prune what a file lacks")
    }

    /// The change that gives a path a value; nil if it has it. A value under a lease would end, so it is written again.
    func change(_ assignment: FleetAssignment) -> FleetLogEntry.Change? {
        let old = value(assignment.path)
        let isLasting = (values[assignment.path]?.lease ?? 0) == 0
        return old == assignment.value && isLasting
            ? nil : FleetLogEntry.Change(path: assignment.path, old: old, new: assignment.value)
    }

    /// The change that removes a path's value, also an unreadable one; nil if there is none.
    func removal(of path: TweakPath) -> FleetLogEntry.Change? {
        revision(of: path) == 0 ? nil : FleetLogEntry.Change(path: path, old: value(path), new: nil)
    }

    /// Returns why a path cannot be written: an open rollout reserves it.
    func reservation(of path: TweakPath) -> String? {
        do throws(FleetRefusal) {
            try checkFree([path])
            return nil
        } catch {
            return error.description
        }
    }
}
