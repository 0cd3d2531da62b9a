// Asks etcd through its JSON gateway: endpoints in turn, ranges in pages, a token where a user is named.

internal import Synchronization

/// The client of one etcd. It holds connections until it is closed.
package final class EtcdClient: Etcd {
    let configuration: EtcdConfiguration
    let transport: any EtcdTransport
    /// Waits; tests have a clock of their own.
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

    /// Ends all that is asked, watches too, and lets go of the connections.
    package func close() { transport.close() }

    // MARK: Etcd

    package func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult {
        var reading = PagedRange(range, pageSize: configuration.pageSize)
        while let request = reading.request {
            try reading.take(try await call("kv/range", request, parse: EtcdAnswers.page))
        }
        return reading.result
    }

    package func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        // Beyond its quota, an older etcd refuses even a transaction that only deletes, and takes a plain deletion.
        if transaction.compares.isEmpty, transaction.success.count == 1, case .delete(let keys) = transaction.success[0]
        {
            return try await call("kv/deleterange", EtcdRequests.deletion(keys), parse: EtcdAnswers.deletion)
        }
        let body = try EtcdRequests.transaction(transaction)
        // A second attempt would find what the first has done, and say that the comparison failed.
        let result = try await call(
            "kv/txn", body, isRepeatable: transaction.compares.isEmpty, parse: EtcdAnswers.transaction)
        let asked = result.succeeded ? transaction.success : transaction.failure
        guard result.responses.count == asked.count else {
            throw .garbled("\(asked.count) operations have \(result.responses.count) responses")
        }
        return result
    }

    package func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease {
        try await call("lease/grant", EtcdRequests.grant(seconds: seconds), parse: EtcdAnswers.lease)
    }

    package func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? {
        do {
            return try await call("lease/keepalive", EtcdRequests.lease(lease), parse: EtcdAnswers.keptAlive)
        } catch .leaseNotFound {
            return nil
        }
    }

    package func revokeLease(_ lease: Int64) async throws(EtcdError) {
        try await call("lease/revoke", EtcdRequests.lease(lease)) { bytes throws(EtcdError) in
            _ = try EtcdAnswers.object(bytes)
        }
    }

    package func status() async throws(EtcdError) -> EtcdStatus {
        try await call("maintenance/status", Array("{}".utf8), parse: EtcdAnswers.status)
    }
}
