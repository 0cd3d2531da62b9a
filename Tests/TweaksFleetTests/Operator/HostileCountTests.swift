// Tests that no count of an untrusted etcd ends the operator's client.

import Testing
import Tweaks

@testable import TweaksFleet

struct HostileCountTests {
    @Test(arguments: [Int64.min, -1, 0, .max]) func aWriteIsAnswered(_ count: Int64) async throws {
        let transport = ScriptedTransport { _ in
            .answer(200, #"{"header":{"cluster_id":"1","revision":"5"},"succeeded":true,"count":"\#(count)"}"#)
        }
        let client = EtcdClient(try EtcdConfiguration(endpoints: "http://a"), transport: transport)
        let fleet = FleetOperator(client, FleetKeys(name: "sample"), by: "ana", now: { 0 })
        _ = try? await fleet.set([FleetAssignment(try TweakPath("A/B/C"), .int(1))])
        #expect(transport.requests.contains { $0.path == "kv/txn" })
    }
}
