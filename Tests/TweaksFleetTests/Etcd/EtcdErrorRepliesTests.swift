// Tests the mapping of errors of etcd and its gateway.

import Testing

@testable import TweaksFleet

@Suite struct EtcdErrorRepliesTests {
    /// HTTP status, code, message, and the error.
    static let errors: [(Int, Int, String, EtcdError)] = [
        (503, 14, "etcdserver: no leader", .unavailable("no leader")),
        (503, 14, "etcdserver: request timed out", .unavailable("request timed out")),
        (504, 4, "context deadline exceeded", .unavailable("context deadline exceeded")),
        (429, 8, "etcdserver: too many requests", .unavailable("too many requests")),
        (429, 8, "etcdserver: mvcc: database space exceeded", .noSpace("mvcc: database space exceeded")),
        (
            429, 8, "grpc: received message larger than max (3 vs. 2)",
            .tooLarge("grpc: received message larger than max (3 vs. 2); send less at once")
        ),
        (400, 3, "etcdserver: request is too large", .tooLarge("request is too large; send less at once")),
        (
            400, 3, "etcdserver: too many operations in txn request",
            .tooLarge("too many operations in txn request; send less at once")
        ),
        (400, 3, "etcdserver: key is not provided", .refused("key is not provided")),
        (400, 3, "etcdserver: user name is empty", .unauthenticated("user name is empty")),
        (400, 3, "etcdserver: revision of auth store is old", .unauthenticated("revision of auth store is old")),
        (
            400, 3, "etcdserver: authentication failed, invalid user ID or password",
            .unauthenticated("authentication failed, invalid user ID or password")
        ),
        (401, 16, "etcdserver: invalid auth token", .unauthenticated("invalid auth token")),
        (403, 7, "etcdserver: permission denied", .forbidden("permission denied")),
        (404, 5, "etcdserver: requested lease not found", .leaseNotFound),
        (404, 5, "etcdserver: member not found", .refused("member not found")),
        (400, 11, "etcdserver: mvcc: required revision has been compacted", .compacted(0)),
        (
            400, 11, "etcdserver: mvcc: required revision is a future revision",
            .futureRevision("mvcc: required revision is a future revision")
        ),
        (400, 11, "etcdserver: too large lease TTL", .refused("too large lease TTL")),
        (412, 9, "etcdserver: authentication is not enabled", .refused("authentication is not enabled")),
        (500, 15, "etcdserver: corrupt cluster", .unavailable("corrupt cluster")),
    ]

    @Test(arguments: errors)
    func `An error is parsed from the JSON of all versions`(
        _ status: Int, _ code: Int, _ message: String, _ error: EtcdError
    ) {
        let stream = #"{"error":{"grpc_code":\#(code),"http_code":\#(status),"message":"\#(message)"}}"#
        for text in [
            #"{"error":"\#(message)","message":"\#(message)","code":\#(code)}"#,
            #"{"code":\#(code),"message":"\#(message)","details":[]}"#, stream,
        ] { #expect(EtcdReplies.failure(status: status, utf8(text)) == error, "\(text)") }
        #expect(throws: error) { try EtcdReplies.keptAlive(utf8(stream)) }
        #expect(throws: error) { try EtcdReplies.watchMessage(utf8(stream)) }
    }

    @Test(arguments: [
        (404, "Not Found\n", "garbled"), (502, "<html>\n<b>", "unavailable"), (503, "", "unavailable"),
        (401, "", "unauthenticated"), (403, "{}", "forbidden"), (302, "", "garbled"), (400, "[", "garbled"),
        (413, "", "tooLarge"), (429, "slow down", "unavailable"), (204, "", "garbled"), (0, "\u{1B}[2J", "garbled"),
    ])
    func `Without a code the HTTP status decides`(_ status: Int, _ text: String, _ kind: String) {
        let error = EtcdReplies.failure(status: status, utf8(text))
        #expect(error.kind == kind)
        #expect(!error.description.unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test func `A long message is truncated`() {
        let text = String(repeating: "é", count: 100_000)
        let json = #"{"code":3,"message":"\#(text)"}"#
        #expect(EtcdReplies.failure(status: 400, utf8(json)).description.utf8.count < 400)
        #expect(EtcdReplies.failure(status: 500, utf8(text)).description.utf8.count < 500)
    }

    @Test(arguments: [
        EtcdError.unreachable("http://x: refused"), .unavailable("no leader"), .unauthenticated("x"), .forbidden("x"),
        .noSpace("x"), .compacted(0), .compacted(7), .futureRevision("x"), .leaseNotFound, .tooLarge("x"),
        .refused("x"), .garbled("x"), .cancelled,
    ])
    func `Each error has a readable description`(_ error: EtcdError) {
        #expect(error.description.contains(" ") && !error.description.contains("EtcdError"))
    }
}
