// Adds helpers for etcd errors, transactions and events to the tests.

import Testing
import TweaksTestSupport

@testable import TweaksFleet

/// Contains all suites of the client that need a real etcd.
@Suite(.needsEtcd, .clustered) enum RealEtcd {}

/// Returns the error of an operation that must fail.
func etcdFailure<Value>(
    at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async -> EtcdError? {
    do {
        Issue.record("no error, but \(try await body())", sourceLocation: location)
    } catch {
        if let error = error as? EtcdError { return error }
        Issue.record("another error: \(error)", sourceLocation: location)
    }
    return nil
}

/// Returns the result of an operation, with its error as a value.
func etcdResult<Value: Sendable>(_ body: () async throws(EtcdError) -> Value) async -> Result<Value, EtcdError> {
    do throws(EtcdError) {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}

/// Returns the UTF-8 bytes of a text.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

extension EtcdError {
    /// The name of the case, without the message: messages depend on the version of etcd.
    var kind: String {
        switch self {
        case .unreachable: "unreachable"
        case .unavailable: "unavailable"
        case .unauthenticated: "unauthenticated"
        case .forbidden: "forbidden"
        case .noSpace: "noSpace"
        case .compacted: "compacted"
        case .futureRevision: "futureRevision"
        case .leaseNotFound: "leaseNotFound"
        case .tooLarge: "tooLarge"
        case .refused: "refused"
        case .garbled: "garbled"
        case .cancelled: "cancelled"
        }
    }
}

extension EtcdTransaction {
    /// Puts a text under a key.
    static func put(_ key: String, _ value: String = "", lease: Int64 = 0) -> EtcdTransaction {
        EtcdTransaction(then: [.put(key: utf8(key), value: utf8(value), lease: lease)])
    }

    /// Puts one value under many keys.
    static func put(_ keys: [String], _ value: [UInt8]) -> EtcdTransaction {
        EtcdTransaction(then: keys.map { .put(key: utf8($0), value: value) })
    }
}

extension EtcdEvent {
    /// `a=1`, or `-a`.
    var text: String {
        let key = String(decoding: pair.key, as: UTF8.self)
        return kind == .delete ? "-\(key)" : "\(key)=\(String(decoding: pair.value, as: UTF8.self))"
    }
}
