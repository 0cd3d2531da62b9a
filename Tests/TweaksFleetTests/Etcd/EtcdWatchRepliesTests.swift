// Tests the parser of watch messages, and the splitter of their stream.

import Testing

@testable import TweaksFleet

@Suite struct EtcdWatchRepliesTests {
    private static let header = #""header":{"cluster_id":"1","revision":"9"}"#
    private let header = EtcdHeader(clusterID: 1, revision: 9)

    @Test func `A message is a creation, events, or progress without events`() throws {
        let created = #"{"result":{\#(Self.header),"created":true}}"#
        #expect(try EtcdReplies.watchMessage(utf8(created)) == .created(header))
        let text = #"""
            {"result":{\#(Self.header),"events":[
            {"kv":{"key":"YQ==","mod_revision":"8","create_revision":"8","version":"1","value":"MQ=="}},
            {"type":"PUT","kv":{"key":"Yg==","mod_revision":"8"},"prev_kv":{"key":"Yg=="}},
            {"type":"DELETE","kv":{"key":"YQ==","mod_revision":"9"}},{"type":1,"kv":{"key":"Yg=="}}]}}
            """#
        let events = [
            EtcdEvent(.put, EtcdKeyValue(key: [0x61], value: [0x31], createRevision: 8, modRevision: 8, version: 1)),
            EtcdEvent(.put, EtcdKeyValue(key: [0x62], modRevision: 8)),
            EtcdEvent(.delete, EtcdKeyValue(key: [0x61], modRevision: 9)),
            EtcdEvent(.delete, EtcdKeyValue(key: [0x62])),
        ]
        #expect(try EtcdReplies.watchMessage(utf8(text)) == .events(header, events))
        #expect(try EtcdReplies.watchMessage(utf8(#"{"result":{\#(Self.header)}}"#)) == .events(header, []))
    }

    static let ends: [(String, EtcdError)] = [
        (#""result":{"canceled":true,"compact_revision":"5"}"#, EtcdError.compacted(5)),
        (
            #""result":{"created":true,"canceled":true,"cancel_reason":"etcdserver: permission denied"}"#,
            .forbidden("permission denied")
        ),
        (#""result":{"canceled":true,"cancel_reason":"etcdserver: no leader"}"#, .unavailable("no leader")),
        (#""result":{"canceled":true}"#, .unavailable("the watch was canceled")),
        (
            #""error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader","http_status":"x"}"#,
            .unavailable("no leader")
        ),
        (
            #""error":{"code":16,"message":"etcdserver: invalid auth token","details":[]}"#,
            .unauthenticated("invalid auth token")
        ),
        (#""error":{"message":"etcdserver: permission denied"}"#, .forbidden("permission denied")),
        (#""error":"lost""#, .unavailable("lost")),
    ]

    @Test(arguments: ends) func `A watch ends with a reason`(_ text: String, _ error: EtcdError) {
        #expect(throws: error) { try EtcdReplies.watchMessage(utf8("{\(text)}")) }
    }

    @Test(arguments: [
        "{}", #"{"result":7}"#, #"{"result":{"events":[{}]}}"#,
        #"{"result":{"events":[{"type":"MOVE","kv":{"key":"YQ=="}}]}}"#,
        #"{"result":{"events":7}}"#, #"{"result":{"fragment":true}}"#, #"{"result":{"canceled":"yes"}}"#,
        #"{"result":{"created":true,"events":[{"kv":{"key":"YQ=="}}]}}"#,
    ])
    func `A malformed message is an error`(_ text: String) {
        #expect { try EtcdReplies.watchMessage(utf8(text)) } throws: { ($0 as? EtcdError)?.kind == "garbled" }
    }

    private static let stream = #"{"a":"}{\"\\"}"# + "\n" + #"{"b":{"c":[{}]}} {}"#

    @Test func `Objects are complete, in pieces of any size`() throws {
        let bytes = utf8(Self.stream)
        for size in 1...bytes.count {
            var splitter = JSONSplitter(limit: 100)
            var objects: [[UInt8]] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                objects += try splitter.append(bytes[start..<min(bytes.count, start + size)])
            }
            #expect(objects == [#"{"a":"}{\"\\"}"#, #"{"b":{"c":[{}]}}"#, "{}"].map(utf8))
            #expect(!splitter.isInside)
        }
    }

    @Test func `An incomplete object is buffered`() throws {
        var splitter = JSONSplitter(limit: 100)
        #expect(try splitter.append(utf8(#"{"a":"}"#)).isEmpty)
        #expect(splitter.isInside)
        #expect(try splitter.append(utf8(#""}"#)) == [utf8(#"{"a":"}"}"#)])
    }

    @Test(arguments: ["Not Found", "[{}]", "}", "{}x", "\u{0}"])
    func `Anything but an object is an error`(_ text: String) {
        var splitter = JSONSplitter(limit: 100)
        #expect { try splitter.append(utf8(text)) } throws: { ($0 as? EtcdError)?.kind == "garbled" }
    }

    @Test func `The size of an object is limited, that of a stream is not`() throws {
        var splitter = JSONSplitter(limit: 10)
        #expect(try splitter.append(utf8(String(repeating: #"{"a":1234}"#, count: 100))).count == 100)
        #expect { try splitter.append(utf8(#"{"a":12345}"#)) } throws: { ($0 as? EtcdError)?.kind == "tooLarge" }
    }
}
