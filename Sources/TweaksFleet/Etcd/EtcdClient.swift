// Implements ``Etcd`` over etcd's JSON gateway, with endpoint failover, paging and authentication.

internal import Synchronization

/// A client of one etcd cluster. It keeps connections open until it is closed.
package final class EtcdClient: Etcd {
    let configuration: EtcdConfiguration
    let transport: any EtcdTransport
    /// Sleeps; tests inject a different clock.
    let sleep: @Sendable (Duration) async throws -> Void
    let session: EtcdSession

    package init(
        _ configuration: EtcdConfiguration, transport: (any EtcdTransport)? = nil,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.configuration = configuration
        self.transport = transport ?? SocketTransport()
        self.sleep = sleep
        session = EtcdSession(endpoints: configuration.endpoints.count)
    }

    /// Ends all requests and watches, and closes the connections.
    package func close() { transport.close() }

    // MARK: Etcd

    package func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult {
        var reading = PagedRange(range, pageSize: configuration.pageSize)
        while let request = reading.request {
            let page: EtcdReplies.Page
            do {
                page = try await call("kv/range", request, parse: EtcdReplies.page)
            } catch {
                if case .tooLarge = error, reading.shrink() { continue }
                throw error
            }
            try reading.append(page)
        }
        return reading.result
    }

    package func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        // Over its quota, an older etcd rejects even a transaction that only deletes, but accepts a plain deletion.
        if transaction.compares.isEmpty, transaction.success.count == 1, case .delete(let keys) = transaction.success[0]
        {
            return try await call("kv/deleterange", EtcdRequests.deletion(keys), parse: EtcdReplies.deletion)
        }
        let body = try EtcdRequests.transaction(transaction)
        // After a first attempt that was applied, a second one would fail its own comparison.
        let result = try await call(
            "kv/txn", body, isRepeatable: transaction.compares.isEmpty, parse: EtcdReplies.transaction)
        let asked = result.succeeded ? transaction.success : transaction.failure
        guard result.responses.count == asked.count else {
            throw .garbled("\(asked.count) operations have \(result.responses.count) responses")
        }
        return result
    }

    package func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease {
        try await call("lease/grant", EtcdRequests.grant(seconds: seconds), parse: EtcdReplies.lease)
    }

    package func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? {
        do {
            return try await call("lease/keepalive", EtcdRequests.lease(lease), parse: EtcdReplies.keptAlive)
        } catch .leaseNotFound {
            return nil
        }
    }

    package func revokeLease(_ lease: Int64) async throws(EtcdError) {
        try await call("lease/revoke", EtcdRequests.lease(lease)) { bytes throws(EtcdError) in
            _ = try EtcdReplies.object(bytes)
        }
    }

    package func status() async throws(EtcdError) -> EtcdStatus {
        try await call("maintenance/status", Array("{}".utf8), parse: EtcdReplies.status)
    }
}
