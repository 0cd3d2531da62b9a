// Tests the parsers of etcd's replies, and base64.

import Testing

@testable import TweaksFleet

@Suite struct EtcdRepliesTests {
    private static let header = #""header":{"cluster_id":"18446744073709551615","member_id":"1","revision":"7"}"#
    private let header = EtcdHeader(clusterID: .max, revision: 7)

    @Test func `A range has keys, and a flag for more`() throws {
        let text = #"""
            {\#(Self.header),"kvs":[{"key":"YQ==","create_revision":"2","mod_revision":"3","version":"2","value":"AP8="},
            {"key":"Yg==","create_revision":4,"mod_revision":5,"version":1,"lease":"-9223372036854775808"}],
            "more":true,"count":"3","a field of tomorrow":[{}]}
            """#
        let page = try EtcdReplies.page(utf8(text))
        let keys = [
            EtcdKeyValue(key: [0x61], value: [0, 255], createRevision: 2, modRevision: 3, version: 2),
            EtcdKeyValue(key: [0x62], createRevision: 4, modRevision: 5, version: 1, lease: .min),
        ]
        #expect(page.result == EtcdRangeResult(header: header, keys: keys, count: 3) && page.hasMore)
    }

    @Test(arguments: ["{}", #"{"header":{}}"#, #"{"header":null,"kvs":null,"count":null,"more":false}"#, "\n{} \r\n"])
    func `Missing fields are zero`(_ text: String) throws {
        let page = try EtcdReplies.page(utf8(text))
        #expect(page.result == EtcdRangeResult(header: EtcdHeader()) && !page.hasMore)
    }

    @Test func `A transaction has a response for each operation; one that fails its comparison has none`() throws {
        let text = #"""
            {\#(Self.header),"succeeded":true,"responses":[{"response_put":{"header":{"revision":"7"}}},
            {"response_range":{"header":{"revision":"7"},"kvs":[{"key":"YQ=="}],"count":"1"}},
            {"response_delete_range":{"header":{"revision":"7"},"deleted":"2"}},{"response_delete_range":{}}]}
            """#
        let range = EtcdRangeResult(header: header, keys: [EtcdKeyValue(key: [0x61])], count: 1)
        var result = EtcdTransactionResult(
            header: header, succeeded: true, responses: [.put, .range(range), .delete(count: 2), .delete(count: 0)])
        #expect(try EtcdReplies.transaction(utf8(text)) == result)
        (result.succeeded, result.responses) = (false, [])
        #expect(try EtcdReplies.transaction(utf8("{\(Self.header)}")) == result)
    }

    @Test func `A lease is granted, renewed, or has expired`() throws {
        let lease = EtcdLease(id: 77, seconds: 5)
        #expect(try EtcdReplies.lease(utf8(#"{"ID":"77","TTL":"5"}"#)) == lease)
        let alive = #"{"result":{\#(Self.header),"ID":"77","TTL":"5"}}"# + "\n"
        for text in [alive, alive + alive] { #expect(try EtcdReplies.keptAlive(utf8(text)) == lease) }
        for text in [#"{"result":{"ID":"77"}}"#, #"{"result":{"ID":"77","TTL":"-1"}}"#] {
            #expect(try EtcdReplies.keptAlive(utf8(text)) == nil)
        }
    }

    @Test(arguments: [
        (#"["memberID:13458989633860879742 alarm:NOSPACE "]"#, [EtcdAlarm.noSpace]),
        (#"["no leader","memberID:1 alarm:  CORRUPT ","memberID:2 alarm:NOSPACE "]"#, [.noSpace, .corrupt]),
        ("[]", []), ("null", []), ("[7]", []),
    ])
    func `A status has the alarms of the cluster`(_ errors: String, _ alarms: [EtcdAlarm]) throws {
        #expect(try EtcdReplies.status(utf8("{\(Self.header),\"errors\":\(errors)}")).alarms == alarms)
    }

    @Test func `A status has the version, the leader and the size`() throws {
        let text = #"{\#(Self.header),"version":"3.4.23","dbSize":"20480","leader":"9007199254740993","errors":["x"]}"#
        let status = EtcdStatus(header: header, version: "3.4.23", leader: 9_007_199_254_740_993, size: 20_480)
        #expect(try EtcdReplies.status(utf8(text)) == status)
        #expect(try EtcdReplies.status(utf8("{}")).leader == 0)
        #expect(throws: EtcdError.garbled("“dbSize” is not a size")) {
            try EtcdReplies.status(utf8(#"{"dbSize":"-9223372036854775808"}"#))
        }
    }

    @Test func `A token is plain text`() throws {
        #expect(try EtcdReplies.token(utf8(#"{"header":{},"token":"abc.7"}"#)) == "abc.7")
        for text in ["{}", #"{"token":""}"#, #"{"token":7}"#, #"{"token":"a\r\nHost: x"}"#, #"{"token":"a b"}"#] {
            #expect(throws: EtcdError.self) { try EtcdReplies.token(utf8(text)) }
        }
    }

    static let malformed = [
        "", " ", "Not Found", "<html>", "[]", "7", "null", "\"\"", "{", "{}{}", "{\"header\":", "{\"a\":1,\"a\":2}",
        #"{"header":{"revision":"x"}}"#, #"{"header":{"revision":"9223372036854775808"}}"#,
        #"{"header":{"revision":1.5}}"#, #"{"header":{"revision":1e3}}"#, #"{"header":{"cluster_id":"-1"}}"#,
        #"{"header":{"revision":[]}}"#, String(repeating: "[", count: 10_000),
        String(repeating: "{\"header\":", count: 10_000),
    ]

    private static let parsers: [(name: String, parse: @Sendable ([UInt8]) throws -> Void)] = [
        ("page", { _ = try EtcdReplies.page($0) }), ("transaction", { _ = try EtcdReplies.transaction($0) }),
        ("lease", { _ = try EtcdReplies.lease($0) }), ("status", { _ = try EtcdReplies.status($0) }),
        ("token", { _ = try EtcdReplies.token($0) }), ("watchMessage", { _ = try EtcdReplies.watchMessage($0) }),
        ("keptAlive", { _ = try EtcdReplies.keptAlive($0) }),
    ]

    @Test(arguments: malformed) func `Malformed text is an error for every parser`(_ text: String) {
        for (name, parse) in Self.parsers { #expect(throws: EtcdError.self, "\(name)") { try parse(utf8(text)) } }
    }

    @Test(arguments: [
        #"{"kvs":{}}"#, #"{"kvs":[{}]}"#, #"{"kvs":[7]}"#, #"{"kvs":[{"key":"!"}]}"#, #"{"kvs":[{"key":"YQ"}]}"#,
        #"{"kvs":[{"key":7}]}"#, #"{"kvs":[{"key":"YQ==","value":"A"}]}"#, #"{"more":"yes"}"#, #"{"count":true}"#,
    ])
    func `A malformed range is an error`(_ text: String) {
        #expect { try EtcdReplies.page(utf8(text)) } throws: { ($0 as? EtcdError)?.kind == "garbled" }
    }

    @Test(arguments: [#"{"responses":[{}]}"#, #"{"responses":[7]}"#, #"{"responses":{}}"#, #"{"succeeded":1}"#])
    func `A malformed transaction is an error`(_ text: String) {
        #expect { try EtcdReplies.transaction(utf8(text)) } throws: { ($0 as? EtcdError)?.kind == "garbled" }
    }

    @Test func `A truncated reply is an error`() {
        let bytes = utf8(#"{\#(Self.header),"kvs":[{"key":"YQ==","value":"AP8="}],"count":"1"}"#)
        for count in 0..<bytes.count {
            #expect(throws: EtcdError.self) { try EtcdReplies.page(Array(bytes.prefix(count))) }
        }
    }
}
