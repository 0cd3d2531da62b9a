// Implements ``Etcd`` over etcd's JSON gateway, with endpoint failover, paging and authentication.

internal import Synchronization

/// A client of one etcd cluster. It keeps connections open until it is closed.
package final class EtcdClient: Etcd {
    let configuration: EtcdConfiguration
    let transport: any EtcdTransport
    /// Sleeps; tests inject a different clock.
    let sleep: @Sendable (Duration) async throws -> Void
    private let state = Mutex(State())

    /// What is kept between calls.
    private struct State {
        /// The index of the endpoint that worked last.
        var endpoint = 0
        var token = Token.notRequested
    }

    private enum Token: Hashable, Sendable {
        case notRequested
        /// etcd does not require authentication.
        case notNeeded
        case token(String)
    }

    package init(
        _ configuration: EtcdConfiguration, transport: (any EtcdTransport)? = nil,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.configuration = configuration
        self.transport = transport ?? SocketTransport(connector: configuration.connector)
        self.sleep = sleep
    }

    package var isSignedIn: Bool { state.withLock { if case .token = $0.token { true } else { false } } }

    /// Ends all requests and watches, and closes the connections.
    package func close() { transport.close() }

    // MARK: Etcd

    /// The size limit of a range in memory. A fleet of 10,000 values takes a tenth of it.
    private static let maxRangeBytes = 64 << 20

    package func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult {
        let (first, end) = EtcdRequests.ends(range.keys)
        let isPaged = range.limit == 0 && end != nil
        var limit = isPaged ? max(1, configuration.pageSize) : max(0, range.limit)
        var next = first
        var result: EtcdRangeResult?
        var bytes = 0
        while true {
            let revision = result?.header.revision ?? range.revision
            let page: EtcdReplies.Page
            do {
                let request = EtcdRequests.range(
                    from: next, end: end, revision: revision, limit: limit, keysOnly: range.keysOnly)
                page = try await call("kv/range", request, parse: EtcdReplies.page)
            } catch {
                // Fewer keys at once may fit.
                guard case .tooLarge = error, isPaged, limit > 1 else { throw error }
                limit = max(1, limit / 8)
                continue
            }
            bytes += page.result.keys.reduce(0) { $0 + $1.memorySize }
            if bytes > Self.maxRangeBytes {
                throw .tooLarge("keys and values of more than \(Self.maxRangeBytes) bytes; \(EtcdReplies.remedy)")
            }
            let whole = try result?.followed(by: page.result) ?? page.result.at(range.revision)
            guard isPaged, page.hasMore else { return whole }
            result = whole
            next = try page.result.next(after: next)
        }
    }

    package func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        // Over its quota, an older etcd rejects even a transaction that only deletes, but accepts a plain deletion.
        if transaction.compares.isEmpty, transaction.success.count == 1, case .delete(let keys) = transaction.success[0]
        {
            return try await call("kv/deleterange", EtcdRequests.deletion(keys), parse: EtcdReplies.deletion)
        }
        // After a first attempt that was applied, a second one would fail its own comparison.
        let result = try await call(
            "kv/txn", try EtcdRequests.transaction(transaction), isRepeatable: transaction.compares.isEmpty,
            parse: EtcdReplies.transaction)
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
        _ = try await call("lease/revoke", EtcdRequests.lease(lease), parse: EtcdReplies.object)
    }

    package func status() async throws(EtcdError) -> EtcdStatus {
        try await call("maintenance/status", Array("{}".utf8), parse: EtcdReplies.status)
    }

    // MARK: One call

    /// - Parameter isRepeatable: Whether to try another endpoint although this one may have applied the request.
    @concurrent private func call<Value: Sendable>(
        _ path: String, _ body: [UInt8], isRepeatable: Bool = true,
        parse: @Sendable ([UInt8]) throws(EtcdError) -> Value
    ) async throws(EtcdError) -> Value {
        var isInDoubt = false
        do throws(EtcdError) {
            return try await withEndpoints { endpoint, headers async throws(EtcdTransportError) in
                try await self.post(endpoint, path, body, headers: headers, parse: parse)
            } endsAfter: { error in
                isInDoubt = error.mayHaveTakenEffect && !isRepeatable
                return isInDoubt
            }
        } catch {
            throw isInDoubt ? error.prefixed(with: "it may have been done all the same") : error
        }
    }

    /// Runs a request at the endpoints in turn, beginning with the one that worked last, until one serves it.
    /// - Parameter endsAfter: Whether no other endpoint is tried after an error that another one might not have.
    func withEndpoints<Value>(
        _ body: (_ endpoint: Int, _ headers: [String: String]) async throws(EtcdTransportError) -> Value,
        endsAfter: (EtcdTransportError) -> Bool
    ) async throws(EtcdError) -> Value {
        var mayRenew = configuration.user != nil
        var last = EtcdError.unreachable("no endpoint is configured")
        let first = state.withLock { $0.endpoint }
        let count = configuration.endpoints.count
        for endpoint in (0..<count).map({ (first + $0) % count }) {
            do throws(EtcdTransportError) {
                return try await authenticated(endpoint, mayRenew: &mayRenew, body)
            } catch {
                guard error.error.isWorthAnotherEndpoint else { throw error.error }
                skip(endpoint)
                last = error.error.prefixed(with: configuration.endpoints[endpoint])
                if endsAfter(error) { throw last }
            }
        }
        throw last
    }

    /// Makes the next endpoint the preferred one. Does nothing if another call has already left this one.
    func skip(_ endpoint: Int) {
        state.withLock { state in
            if state.endpoint == endpoint { state.endpoint = (endpoint + 1) % configuration.endpoints.count }
        }
    }

    func url(_ endpoint: Int, _ path: String) -> String { "\(configuration.endpoints[endpoint])/v3/\(path)" }

    private func post<Value>(
        _ endpoint: Int, _ path: String, _ body: [UInt8], headers: [String: String],
        parse: ([UInt8]) throws(EtcdError) -> Value
    ) async throws(EtcdTransportError) -> Value {
        let (status, reply) = try await transport.post(
            url(endpoint, path), body, headers: headers, timeout: configuration.timeout)
        do throws(EtcdError) {
            guard status == 200 else { throw EtcdReplies.failure(status: status, reply) }
            return try parse(reply)
        } catch {
            throw EtcdTransportError(error, mayHaveTakenEffect: error.mayHaveTakenEffect)
        }
    }

    // MARK: Authentication

    /// Runs a request with the current token, and once more with a new one if the token is rejected.
    private func authenticated<Value>(
        _ endpoint: Int, mayRenew: inout Bool,
        _ body: (_ endpoint: Int, _ headers: [String: String]) async throws(EtcdTransportError) -> Value
    ) async throws(EtcdTransportError) -> Value {
        let token = try await token(endpoint)
        do throws(EtcdTransportError) {
            return try await body(endpoint, Self.headers(token))
        } catch {
            guard mayRenew, case .unauthenticated = error.error else { throw error }
            mayRenew = false
            // Another call may have stored a new one already.
            state.withLock { state in
                if state.token == token { state.token = .notRequested }
            }
        }
        return try await body(endpoint, Self.headers(try await self.token(endpoint)))
    }

    private static func headers(_ token: Token) -> [String: String] {
        if case .token(let text) = token { ["Authorization": text] } else { [:] }
    }

    /// Returns the cached token, or requests one with the password that the file contains now.
    private func token(_ endpoint: Int) async throws(EtcdTransportError) -> Token {
        let known = state.withLock { $0.token }
        guard known == .notRequested, let user = configuration.user, let file = configuration.passwordFile else {
            return known
        }
        var token = Token.notNeeded
        do {
            let body = EtcdRequests.authenticate(user, try EtcdConfiguration.password(in: file))
            let text = try await post(endpoint, "auth/authenticate", body, headers: [:], parse: EtcdReplies.token)
            token = .token(text)
        } catch {
            let error = (error as? EtcdTransportError)?.error ?? error as? EtcdError ?? .unreachable("\(error)")
            // Only the token has been requested so far.
            if !EtcdReplies.isAuthenticationOff(error) { throw EtcdTransportError(error, mayHaveTakenEffect: false) }
        }
        state.withLock { $0.token = token }
        return token
    }
}

extension EtcdRangeResult {
    /// The result as that of a range at a revision; 0 means its own.
    fileprivate func at(_ revision: Int64) -> EtcdRangeResult {
        var result = self
        if revision != 0 { result.header.revision = revision }
        return result
    }

    /// The result with the keys of the next page.
    fileprivate func followed(by page: EtcdRangeResult) throws(EtcdError) -> EtcdRangeResult {
        guard header.clusterID == page.header.clusterID else { throw .garbled("endpoints of different clusters") }
        var result = self
        result.keys += page.keys
        return result
    }

    /// The first key after this page. Each page must advance, or reading would never end.
    fileprivate func next(after first: [UInt8]) throws(EtcdError) -> [UInt8] {
        guard let last = keys.last?.key, !last.lexicographicallyPrecedes(first) else {
            throw .garbled("a page that leads nowhere")
        }
        return last + [0]
    }
}

extension EtcdKeyValue {
    /// Its size in memory, in bytes, with the headers of its key and its value.
    var memorySize: Int { MemoryLayout<EtcdKeyValue>.stride + 64 + key.count + value.count }
}
