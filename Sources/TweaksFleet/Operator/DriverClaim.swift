// Claims a rollout for one driver with a key under a lease.

import Tweaks

/// The exclusive right to drive a rollout, valid while the lease lives.
package struct DriverClaim: Hashable, Sendable {
    package let id: String
    package let lease: EtcdLease
    /// A comparison that holds while the claim does; every write of the driver includes it.
    package let fence: EtcdTransaction.Compare

    /// The seconds without a heartbeat after which another driver may take over.
    package static let seconds: Int64 = 60
}

extension FleetOperator {
    /// Becomes the driver of a rollout; fails if there is another one.
    package func claim(
        _ id: String, host: String, pid: Int64, seconds: Int64 = DriverClaim.seconds
    ) async throws(FleetRefusal) -> DriverClaim {
        let lease = try await grant(seconds: seconds)
        let key = keys.driver(id)
        let record = FleetDriver(host: host, pid: pid, by: by, at: now())
        let result: EtcdTransactionResult
        do throws(EtcdError) {
            result = try await etcd.commit(
                EtcdTransaction(
                    if: [.modRevision(key, equals: 0)],
                    then: [.put(key: key, value: record.bytes, lease: lease.id)], otherwise: [.range(.key(key))]))
        } catch {
            throw FleetRefusal(error, wasWriting: true)
        }
        if result.succeeded {
            return DriverClaim(id: id, lease: lease, fence: .createRevision(key, equals: result.header.revision))
        }
        if case .range(let range)? = result.responses.first, let pair = range.keys.first, pair.lease == lease.id {
            // A member applied the write, but its reply was lost.
            return DriverClaim(id: id, lease: lease, fence: .createRevision(key, equals: pair.createRevision))
        }
        try? await etcd.revokeLease(lease.id)
        throw Self.isDriven(id, by: result.responses.first)
    }

    private static func isDriven(_ id: String, by response: EtcdTransactionResult.Response?) -> FleetRefusal {
        var who = "another operator"
        if case .range(let range)? = response, let pair = range.keys.first, let driver = try? FleetDriver(pair.value) {
            who = "\(driver.by) (process \(driver.pid) on \(driver.host))"
        }
        return FleetRefusal(
            .refused,
            "rollout \(id) is driven by \(who); end that driver, or wait until its lease of "
                + "\(DriverClaim.seconds) s is over")
    }

    /// Releases a claim, so that another driver need not wait.
    package func release(_ claim: DriverClaim) async { try? await etcd.revokeLease(claim.lease.id) }
}
