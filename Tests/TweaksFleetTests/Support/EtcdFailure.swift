// Says why etcd did not do what a test asked for.

import Testing

@testable import TweaksFleet

/// The error of something that has to fail.
func etcdFailure<Value>(
    at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async -> EtcdError? {
    do {
        let value = try await body()
        Issue.record("it did not fail: \(value)", sourceLocation: location)
        return nil
    } catch {
        if error as? EtcdError == nil { Issue.record("another error: \(error)", sourceLocation: location) }
        return error as? EtcdError
    }
}

/// What etcd says, with the error as a value.
func etcdResult<Value: Sendable>(
    _ body: () async throws(EtcdError) -> Value
) async -> Result<Value, EtcdError> {
    do throws(EtcdError) {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}

extension EtcdError {
    /// Which case it is, without the words: they are etcd's, and not the same in all versions.
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

/// The bytes of a text.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
