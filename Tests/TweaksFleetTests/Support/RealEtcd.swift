// The tests that need a real etcd, one after the other: members in a row find enough of the machine.

import Testing
import TweaksTestSupport

@testable import TweaksFleet

/// Suites with an etcd of their own belong in here.
@Suite(.needsEtcd, .clustered, .serialized) enum RealEtcd {}

extension EtcdTransaction {
    /// Puts a value under a key of text.
    static func put(_ key: String, _ value: String = "", lease: Int64 = 0) -> EtcdTransaction {
        EtcdTransaction(then: [.put(key: utf8(key), value: utf8(value), lease: lease)])
    }
}

extension EtcdEvent {
    /// `a=1`, or `-a`.
    var text: String {
        let key = String(decoding: pair.key, as: UTF8.self)
        return kind == .delete ? "-\(key)" : "\(key)=\(String(decoding: pair.value, as: UTF8.self))"
    }
}
