// Claims a rollout for one driver: a key under a lease, which others have to wait out.

import Tweaks

/// The right to drive a rollout, as long as the lease lives.
package struct DriverClaim: Hashable, Sendable {
    package let id: String
    package let lease: EtcdLease
    /// Holds while the claim does: every write of the driver compares it.
    package let fence: EtcdTransaction.Compare

    /// Seconds without a sign of the driver until another one may take over.
    package static let seconds: Int64 = 60
}

extension FleetOperator {
    /// Becomes the driver of a rollout; refused while there is another one.
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
            // It was done by a member whose answer did not come.
            return DriverClaim(id: id, lease: lease, fence: .createRevision(key, equals: pair.createRevision))
        }
        try? await etcd.revokeLease(lease.id)
        throw Self.isDriven(id, by: result.responses.first)
    }

    private static func isDriven(_ id: String, by response: EtcdTransactionResult.Response?) -> FleetRefusal {
        var who = "somebody"
        if case .range(let range)? = response, let pair = range.keys.first, let driver = try? FleetDriver(pair.value) {
            who = "\(driver.by) (process \(driver.pid) on \(driver.host))"
        }
        return FleetRefusal(
            .refused,
            "rollout \(id) is driven by \(who); end that driver, or wait until its lease of "
                + "\(DriverClaim.seconds) s is over")
    }

    /// Gives a claim up, so that another one need not wait.
    package func release(_ claim: DriverClaim) async { try? await etcd.revokeLease(claim.lease.id) }
}
