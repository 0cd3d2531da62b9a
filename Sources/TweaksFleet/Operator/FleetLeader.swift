// Elects the one drive service that leads: it holds a key under a lease, and the claims of its rollouts end with it.

import Tweaks

/// The right to drive what is handed to the drive service, valid while the lease lives.
package struct FleetLeadership: Hashable, Sendable {
    package let lease: EtcdLease
    /// A comparison that holds while it leads.
    package let fence: EtcdTransaction.Compare

    /// The seconds without a heartbeat after which another service takes over.
    package static let seconds: Int64 = 20
}

/// The result of a candidacy.
package enum FleetElection: Hashable, Sendable {
    case won(FleetLeadership)
    /// Another service leads.
    case lost(to: FleetDriver)
}

extension FleetOperator {
    /// The drive service that leads; nil if none does. An unreadable record counts as one, whose lease ends it.
    package func leader() async throws(FleetRefusal) -> FleetDriver? {
        try await range(.key(keys.leader)).keys.first.map(Self.driver)
    }

    private static func driver(_ pair: EtcdKeyValue) -> FleetDriver {
        (try? FleetDriver(pair.value)) ?? FleetDriver(host: "an unknown host", pid: 0, by: "an unknown driver", at: 0)
    }

    /// Becomes the leader, unless another service leads.
    package func runForLeader(_ candidate: FleetDriver, seconds: Int64) async throws(FleetRefusal) -> FleetElection {
        // Without a lease for each attempt: a service may wait for weeks.
        if let leader = try await leader() { return .lost(to: leader) }
        let lease = try await grant(seconds: seconds)
        do throws(EtcdError) {
            let result = try await etcd.commit(
                EtcdTransaction(
                    if: [.modRevision(keys.leader, equals: 0)],
                    then: [.put(key: keys.leader, value: candidate.bytes, lease: lease.id)],
                    otherwise: [.range(.key(keys.leader))]))
            if result.succeeded { return .won(leadership(lease, since: result.header.revision)) }
            if case .range(let range)? = result.responses.first, let pair = range.keys.first {
                // A member applied the write, but its reply was lost.
                if pair.lease == lease.id { return .won(leadership(lease, since: pair.createRevision)) }
                await giveUp(lease)
                return .lost(to: Self.driver(pair))
            }
            throw EtcdError.unavailable("the leader changed meanwhile")
        } catch {
            await giveUp(lease)
            throw FleetRefusal(error)
        }
    }

    private func leadership(_ lease: EtcdLease, since revision: Int64) -> FleetLeadership {
        FleetLeadership(lease: lease, fence: .createRevision(keys.leader, equals: revision))
    }

    /// Lets another service take over at once.
    package func resign(_ leadership: FleetLeadership) async { await giveUp(leadership.lease) }

    /// In a task of its own, since the service's may be canceled.
    private func giveUp(_ lease: EtcdLease) async {
        await Task { try? await etcd.revokeLease(lease.id) }.value
    }
}
