// Provides an etcd whose answers a grammar builds, with the keys of one fleet in them.

import Synchronization
import Tweaks
import tweaks_fuzz

@testable import TweaksFleet

/// An etcd that answers anything that its client can read.
final class RogueEtcd: Etcd {
    private let keys: FleetKeys
    private let choices: Mutex<Choices>
    /// The keys, which all answers share.
    private let answer: EtcdRangeResult

    init(_ choices: Choices, _ keys: FleetKeys) {
        var choices = choices
        let page = choices.page(of: choices.fleetPairs(), below: "\(keys.prefix)/\(keys.name)/")
        answer = (try? EtcdReplies.page(Array(page.utf8)).result) ?? EtcdRangeResult(header: EtcdHeader())
        self.choices = Mutex(choices)
        self.keys = keys
    }

    private func answered<Result>(
        _ make: (inout Choices) -> String, _ read: ([UInt8]) throws(EtcdError) -> Result
    ) throws(EtcdError) -> Result {
        try read(Array(choices.withLock { make(&$0) }.utf8))
    }

    var pairs: [EtcdKeyValue] { answer.keys }

    func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult {
        EtcdRangeResult(
            header: answer.header, keys: answer.keys.filter { range.keys.contains($0.key) }, count: answer.count)
    }

    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        try answered({ $0.outcome() }, EtcdReplies.transaction)
    }

    var isSignedIn: Bool { true }
    func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease {
        try answered({ $0.grant() }, EtcdReplies.lease)
    }

    func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? { nil }

    func revokeLease(_ lease: Int64) async throws(EtcdError) {}

    func status() async throws(EtcdError) -> EtcdStatus { try answered({ $0.member() }, EtcdReplies.status) }

    func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        AsyncThrowingStream { $0.finish(throwing: EtcdError.compacted(revision)) }
    }
}
