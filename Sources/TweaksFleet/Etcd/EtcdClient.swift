// Asks etcd by its JSON gateway: one endpoint after the other, signed in where that is asked for.

import Foundation
import Synchronization
import Tweaks

/// Something that has happened, or not yet.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}

/// A client of etcd's v3 API over HTTP.
package final class EtcdClient: Etcd {
    private struct State {
        /// The endpoint that has answered last.
        var endpoint = 0
        /// Empty where etcd asks for none.
        var token: String?
    }

    private let configuration: EtcdConfiguration
    private let transport: any EtcdTransport
    private let time: any FleetTime
    private let state = Mutex(State())

    package init(
        _ configuration: EtcdConfiguration, transport: any EtcdTransport = URLSessionTransport(),
        time: any FleetTime = FleetSystemTime()
    ) {
        (self.configuration, self.transport, self.time) = (configuration, transport, time)
    }

    /// Closes all connections.
    package func close() { transport.close() }

    // MARK: Calls

    package func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult {
        var request = EtcdRequest.range(range)
        let isWhole = range.keys.isKey || range.limit > 0
        if !isWhole { request.add("limit", .string("\(configuration.pageSize)")) }
        var (result, hasMore) = try EtcdAnswer.range(try await ask("kv/range", request))
        while hasMore, !isWhole, let last = result.keys.last {
            // Pages of one revision: what is changed meanwhile comes by the watch.
            var next = range
            next.revision = result.header.revision
            var request = EtcdRequest.range(next, after: last.key)
            request.add("limit", .string("\(configuration.pageSize)"))
            let page = try EtcdAnswer.range(try await ask("kv/range", request))
            if page.result.keys.isEmpty { throw .garbled("a page of a range is empty") }
            result.keys += page.result.keys
            hasMore = page.hasMore
        }
        return result
    }

    package func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        let most = max(transaction.compares.count, transaction.success.count, transaction.failure.count)
        if most > EtcdRequest.mostOperations {
            throw .tooLarge("\(most) operations; etcd takes \(EtcdRequest.mostOperations) in one transaction")
        }
        return try EtcdAnswer.transaction(try await ask("kv/txn", EtcdRequest.transaction(transaction)))
    }

    package func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease {
        try EtcdAnswer.lease(try await ask("lease/grant", [("TTL", .string("\(seconds)"))]))
    }

    package func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? {
        do throws(EtcdError) {
            return try EtcdAnswer.keptLease(try await ask("lease/keepalive", [("ID", .string("\(lease)"))]))
        } catch .leaseNotFound {
            return nil
        }
    }

    package func revokeLease(_ lease: Int64) async throws(EtcdError) {
        _ = try await ask("lease/revoke", [("ID", .string("\(lease)"))])
    }

    package func status() async throws(EtcdError) -> EtcdStatus {
        try EtcdAnswer.status(try await ask("maintenance/status", []))
    }

    // MARK: Watching

    package func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        AsyncThrowingStream { continuation in
            let reading = Task {
                do {
                    try await self.follow(range, from: revision) { continuation.yield($0) }
                    continuation.finish(throwing: EtcdError.unavailable("the watch ended"))
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    private func follow(
        _ range: EtcdKeys, from revision: Int64, _ tell: @escaping @Sendable (EtcdWatchMessage) -> Void
    ) async throws {
        let (place, url) = endpoint
        do {
            var headers = try await headers(at: url)
            // Without a leader a member would keep a watch that learns of nothing.
            headers["Grpc-Metadata-hasleader"] = "true"
            let body = JSON.object(EtcdRequest.watch(range, from: revision)).text
            let chunks = transport.stream(url.appendingPathComponent("v3/watch"), Array(body.utf8), headers: headers)
            try await read(chunks, tell)
        } catch let error as EtcdError {
            moveOn(from: place, after: error)
            throw error
        }
    }

    /// Reads until the stream ends. The first message has to come soon.
    private func read(
        _ chunks: AsyncThrowingStream<[UInt8], any Error>, _ tell: @escaping @Sendable (EtcdWatchMessage) -> Void
    ) async throws {
        let isCreated = Flag()
        let (time, end) = (time, time.now.advanced(by: configuration.watchTimeout))
        try await withThrowingTaskGroup { group in
            group.addTask {
                var splitter = JSONSplitter()
                for try await bytes in chunks {
                    for object in try splitter.take(bytes) {
                        guard let message = try EtcdAnswer.watch(object) else { continue }
                        if case .created = message { isCreated.raise() }
                        tell(message)
                    }
                }
                if Task.isCancelled { throw EtcdError.cancelled }
            }
            group.addTask {
                try await time.sleep(until: end)
                if isCreated.isRaised { return try await Self.never() }
                throw EtcdError.unavailable("a watch did not stand in time")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits until the task is cancelled.
    private static func never() async throws {
        for await _ in AsyncStream<Never>(unfolding: {
            try? await Task.sleep(for: .seconds(86_400 * 365)); return nil
        }) {}
        try Task.checkCancellation()
    }

    // MARK: Endpoints

    private var endpoint: (place: Int, url: URL) {
        let place = state.withLock { $0.endpoint }
        return (place, configuration.endpoints[place])
    }

    private func moveOn(from place: Int, after error: EtcdError) {
        switch error {
        case .unreachable, .unavailable, .garbled: break
        default: return
        }
        state.withLock { state in
            // Another call may have moved on already.
            if state.endpoint == place { state.endpoint = (place + 1) % configuration.endpoints.count }
        }
    }

    /// Asks each endpoint once, until one answers.
    private func ask(_ call: String, _ request: [(String, JSON)]) async throws(EtcdError) -> [UInt8] {
        let body = Array(JSON.object(request).text.utf8)
        if body.count > EtcdRequest.mostBytes {
            throw .tooLarge("\(body.count) bytes; etcd takes \(EtcdRequest.mostBytes)")
        }
        var attempts = configuration.endpoints.count
        while true {
            let (place, url) = endpoint
            do throws(EtcdError) {
                return try await ask(url, call, body)
            } catch {
                attempts -= 1
                moveOn(from: place, after: error)
                switch error {
                case .unreachable, .unavailable, .garbled: if attempts == 0 { throw error }
                default: throw error
                }
            }
        }
    }

    private func ask(_ url: URL, _ call: String, _ body: [UInt8]) async throws(EtcdError) -> [UInt8] {
        let place = url.appendingPathComponent("v3/\(call)")
        var answer = try await transport.post(
            place, body, headers: try await headers(at: url), timeout: configuration.timeout)
        if answer.status == 200 { return answer.body }
        let error = EtcdAnswer.error(status: answer.status, answer.body)
        guard case .unauthenticated = error, configuration.user != nil else { throw error }
        // A token lives for minutes, and ends when users or roles are changed.
        state.withLock { $0.token = nil }
        answer = try await transport.post(
            place, body, headers: try await headers(at: url), timeout: configuration.timeout)
        if answer.status == 200 { return answer.body }
        throw EtcdAnswer.error(status: answer.status, answer.body)
    }

    // MARK: Signing in

    private func headers(at url: URL) async throws(EtcdError) -> [String: String] {
        guard let user = configuration.user else { return [:] }
        if let token = state.withLock({ $0.token }) { return token.isEmpty ? [:] : ["Authorization": token] }
        let password = try configuration.password() ?? ""
        let request: [(String, JSON)] = [("name", .string(user)), ("password", .string(password))]
        let answer = try await transport.post(
            url.appendingPathComponent("v3/auth/authenticate"), Array(JSON.object(request).text.utf8), headers: [:],
            timeout: configuration.timeout)
        let token: String
        if answer.status == 200 {
            token = try EtcdAnswer.token(answer.body)
        } else {
            let error = EtcdAnswer.error(status: answer.status, answer.body)
            // Where nobody has to sign in there is nothing to show.
            guard case .refused(let text) = error, text.contains("authentication is not enabled") else {
                if case .refused(let text) = error { throw .unauthenticated(text) }
                throw error
            }
            token = ""
        }
        state.withLock { $0.token = token }
        return token.isEmpty ? [:] : ["Authorization": token]
    }
}
