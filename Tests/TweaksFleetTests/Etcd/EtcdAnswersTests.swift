// Checks the parsers of etcd's answers: bytes in, values out.

import Testing

@testable import TweaksFleet

@Suite struct EtcdAnswersTests {
    private static let header = #""header":{"cluster_id":"18446744073709551615","member_id":"1","revision":"7"}"#
    private let header = EtcdHeader(clusterID: .max, revision: 7)

    @Test func `A range has keys, and says whether there are more`() throws {
        let text = #"""
            {\#(Self.header),"kvs":[{"key":"YQ==","create_revision":"2","mod_revision":"3","version":"2","value":"AP8="},
            {"key":"Yg==","create_revision":4,"mod_revision":5,"version":1,"lease":"-9223372036854775808"}],
            "more":true,"count":"3","a field of tomorrow":[{}]}
            """#
        let page = try EtcdAnswers.page(utf8(text))
        let keys = [
            EtcdKeyValue(key: [0x61], value: [0, 255], createRevision: 2, modRevision: 3, version: 2),
            EtcdKeyValue(key: [0x62], createRevision: 4, modRevision: 5, version: 1, lease: .min),
        ]
        #expect(page.result == EtcdRangeResult(header: header, keys: keys, count: 3))
        #expect(page.more)
    }

    @Test(arguments: ["{}", #"{"header":{}}"#, #"{"header":null,"kvs":null,"count":null,"more":false}"#, "\n{} \r\n"])
    func `Fields that are absent are zero`(_ text: String) throws {
        let page = try EtcdAnswers.page(utf8(text))
        #expect(page.result == EtcdRangeResult(header: EtcdHeader()))
        #expect(!page.more)
    }

    @Test func `A transaction that succeeds has a response for each operation`() throws {
        let text = #"""
            {\#(Self.header),"succeeded":true,"responses":[{"response_put":{"header":{"revision":"7"}}},
            {"response_range":{"header":{"revision":"7"},"kvs":[{"key":"YQ=="}],"count":"1"}},
            {"response_delete_range":{"header":{"revision":"7"},"deleted":"2"}},{"response_delete_range":{}}]}
            """#
        let range = EtcdRangeResult(header: header, keys: [EtcdKeyValue(key: [0x61])], count: 1)
        let responses: [EtcdTransactionResult.Response] = [
            .put, .range(range), .delete(count: 2), .delete(count: 0),
        ]
        #expect(
            try EtcdAnswers.transaction(utf8(text))
                == EtcdTransactionResult(header: header, succeeded: true, responses: responses))
    }

    @Test func `A transaction whose comparison fails does not say so`() throws {
        #expect(
            try EtcdAnswers.transaction(utf8("{\(Self.header)}"))
                == EtcdTransactionResult(header: header, succeeded: false, responses: []))
    }

    @Test func `A lease is granted, kept alive, and gone`() throws {
        #expect(try EtcdAnswers.lease(utf8(#"{"ID":"77","TTL":"5"}"#)) == EtcdLease(id: 77, seconds: 5))
        let alive = #"{"result":{\#(Self.header),"ID":"77","TTL":"5"}}"# + "\n"
        #expect(try EtcdAnswers.keptAlive(utf8(alive)) == EtcdLease(id: 77, seconds: 5))
        #expect(try EtcdAnswers.keptAlive(utf8(alive + alive)) == EtcdLease(id: 77, seconds: 5))
        #expect(try EtcdAnswers.keptAlive(utf8(#"{"result":{"ID":"77"}}"#)) == nil)
        #expect(try EtcdAnswers.keptAlive(utf8(#"{"result":{"ID":"77","TTL":"-1"}}"#)) == nil)
    }

    @Test func `A member says its version, leader and size`() throws {
        let text = #"{\#(Self.header),"version":"3.4.23","dbSize":"20480","leader":"9007199254740993","errors":["x"]}"#
        let status = EtcdStatus(header: header, version: "3.4.23", leader: 9_007_199_254_740_993, size: 20_480)
        #expect(try EtcdAnswers.status(utf8(text)) == status)
        #expect(try EtcdAnswers.status(utf8("{}")).leader == 0)
    }

    @Test func `A token is plain text`() throws {
        #expect(try EtcdAnswers.token(utf8(#"{"header":{},"token":"abc.7"}"#)) == "abc.7")
        for text in ["{}", #"{"token":""}"#, #"{"token":7}"#, #"{"token":"a\r\nHost: x"}"#, #"{"token":"a b"}"#] {
            #expect(throws: EtcdError.self) { try EtcdAnswers.token(utf8(text)) }
        }
    }

    /// What no parser takes, and none traps on.
    static let garbage = [
        "", " ", "Not Found", "<html>", "[]", "7", "null", "\"\"", "{", "{}{}", "{\"header\":", "{\"a\":1,\"a\":2}",
        #"{"header":{"revision":"x"}}"#, #"{"header":{"revision":"9223372036854775808"}}"#,
        #"{"header":{"revision":1.5}}"#, #"{"header":{"revision":1e3}}"#, #"{"header":{"cluster_id":"-1"}}"#,
        #"{"header":{"revision":[]}}"#, String(repeating: "[", count: 10_000),
        String(repeating: "{\"header\":", count: 10_000),
    ]

    @Test(arguments: garbage) func `Garbage is an error for every parser`(_ text: String) {
        let bytes = utf8(text)
        #expect(throws: EtcdError.self) { try EtcdAnswers.page(bytes) }
        #expect(throws: EtcdError.self) { try EtcdAnswers.transaction(bytes) }
        #expect(throws: EtcdError.self) { try EtcdAnswers.lease(bytes) }
        #expect(throws: EtcdError.self) { try EtcdAnswers.status(bytes) }
        #expect(throws: EtcdError.self) { try EtcdAnswers.token(bytes) }
        #expect(throws: EtcdError.self) { try EtcdAnswers.watchMessage(bytes) }
        #expect(throws: EtcdError.self) { try EtcdAnswers.keptAlive(bytes) }
    }

    @Test(arguments: [
        #"{"kvs":{}}"#, #"{"kvs":[{}]}"#, #"{"kvs":[7]}"#, #"{"kvs":[{"key":"!"}]}"#, #"{"kvs":[{"key":"YQ"}]}"#,
        #"{"kvs":[{"key":7}]}"#, #"{"kvs":[{"key":"YQ==","value":"A"}]}"#, #"{"more":"yes"}"#, #"{"count":true}"#,
    ])
    func `A range that is not one is garbled`(_ text: String) {
        #expect { try EtcdAnswers.page(utf8(text)) } throws: { ($0 as? EtcdError)?.kind == "garbled" }
    }

    @Test(arguments: [#"{"responses":[{}]}"#, #"{"responses":[7]}"#, #"{"responses":{}}"#, #"{"succeeded":1}"#])
    func `A transaction that is not one is garbled`(_ text: String) {
        #expect { try EtcdAnswers.transaction(utf8(text)) } throws: { ($0 as? EtcdError)?.kind == "garbled" }
    }

    // MARK: Base64

    static let base64: [([UInt8], String)] = [
        ([], ""), ([0x66], "Zg=="), ([0x66, 0x6F], "Zm8="), ([0x66, 0x6F, 0x6F], "Zm9v"), ([0, 255], "AP8="),
        ([0xFB, 0xFF, 0xBF], "+/+/"),
    ]

    @Test(arguments: base64) func `Bytes are written and read`(_ bytes: [UInt8], _ text: String) {
        #expect(EtcdBase64.encode(bytes) == text)
        #expect(EtcdBase64.decode(text) == bytes)
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "=", "Zg==Zg==", "Z===", "Zm 8", "Zm8-", "Zm8\n", "é==",
    ])
    func `What is not base64 is nothing`(_ text: String) { #expect(EtcdBase64.decode(text) == nil) }

    @Test func `Every byte is read as it was written, wherever it stands`() {
        let all = (0...255).map { UInt8($0) }
        for count in 250...256 {
            let bytes = Array(all.suffix(count))
            #expect(EtcdBase64.decode(EtcdBase64.encode(bytes)) == bytes)
        }
    }

    @Test func `No beginning of an answer is an answer`() {
        let bytes = utf8(#"{\#(Self.header),"kvs":[{"key":"YQ==","value":"AP8="}],"count":"1"}"#)
        for count in 0..<bytes.count {
            #expect(throws: EtcdError.self) { try EtcdAnswers.page(Array(bytes.prefix(count))) }
        }
    }
}
