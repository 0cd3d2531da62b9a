// Tests request targets: paths and queries.

import Testing

@testable import TweaksPanel

@Suite struct HTTPTargetTests {
    private static func reading(_ target: String, host: String = "h") -> HTTPReading {
        HTTPReading.every("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
    }

    @Test(
        arguments: [
            ("/", []), ("/a", ["a"]), ("/api/tweaks/A/B%20C", ["api", "tweaks", "A", "B C"]), ("/%41", ["A"]),
            ("/a%2Fb/c", ["a/b", "c"]), ("/a%2fb", ["a/b"]), ("/a+b", ["a+b"]), ("/%25", ["%"]), ("/%2541", ["%41"]),
            ("/%C3%A9", ["é"]), ("/%F0%9F%98%80", ["😀"]), ("/...", ["..."]), ("/.a", [".a"]), ("/%3F%23", ["?#"]),
            ("/a;b=c,d", ["a;b=c,d"]), ("/a:b@c", ["a:b@c"]), ("/{a}|^`\\\"<>[]", ["{a}|^`\\\"<>[]"]), ("/*", ["*"]),
            ("/?", []), ("http://h", []), ("http://h/", []), ("http://h/a", ["a"]), ("HTTP://h/a", ["a"]),
            ("http://h?a=b", []), ("http://H/http://x", nil), ("http://h/x%3A", ["x:"]),
        ] as [(String, [String]?)])
    func pathsAreDecoded(_ target: String, _ path: [String]?) {
        #expect(Self.reading(target).requests.map(\.path) == path.map { [$0] } ?? [])
    }

    @Test(
        arguments: [
            ("", [:]), ("a=b", ["a": "b"]), ("a", ["a": ""]), ("a=", ["a": ""]), ("=b", ["": "b"]), ("=", ["": ""]),
            ("a=b=c", ["a": "b=c"]), ("a+b=c+d", ["a b": "c d"]), ("a%2Bb=%20", ["a+b": " "]),
            ("a=1&&b=2&", ["a": "1", "b": "2"]), ("a%3Db=c", ["a=b": "c"]), ("a%26b=c", ["a&b": "c"]),
            ("p=A/B/*", ["p": "A/B/*"]), ("p=?", ["p": "?"]), ("p=%C3%A9", ["p": "é"]), ("p=..", ["p": ".."]),
            ("p=A%2FB", ["p": "A/B"]), ("p=//", ["p": "//"]),
        ] as [(String, KeyValuePairs<String, String>)])
    func queriesAreDecoded(_ query: String, _ fields: KeyValuePairs<String, String>) {
        #expect(Self.reading("/a?\(query)").requests.map(\.query) == [fields.map { HTTPField($0.key, $0.value) }])
    }

    @Test func aRepeatedParameterKeepsItsOrder() {
        let requests = Self.reading("/?p=1&q=2&p=3").requests
        #expect(requests.map { $0.values("p") } == [["1", "3"]])
    }

    @Test(
        arguments: [
            "a", "*", "h:80", "//", "//a", "/a//b", "/a/", "/.", "/..", "/a/../b", "/a/./b", "/%2e", "/%2E%2e/a",
            "/.%2e", "/%", "/%4", "/%4g", "/%g4", "/%%41", "/% 41", "/%00", "/a%0Ab", "/a%0d", "/%7F", "/%1b", "/%C3",
            "/%FF", "/%C0%AF", "/%ED%A0%80", "/%C3/%A9", "/a#b", "/#", "/?a#b", "/?%",
            "/?a=%zz", "/?%00", "/?a=%0A", "/?a=%FF", "https://h/", "ftp://h/", "http:/h/", "http://", "http:///a",
            "http://x/", "http://h:80/", "http://u@h/", "http://h/a//b", "http://h/..", "\\a", "?a", "%2Fa", "/%u0041",
            "/%EF%BF", "/é", "/a\u{7F}", "h/",
        ])
    func invalidTargetsAreRefused(_ target: String) {
        let failure = Self.reading(target).failure
        #expect(failure?.status == .badRequest && failure?.endsConnection == true)
    }

    @Test(
        arguments: [
            ("http://h:1/a", "h:1", true), ("http://H:1/a", "h:1", true), ("http://h:1/a", "H:1", true),
            ("http://h/a", "h:1", false), ("http://h:1/a", "h", false), ("http://evil.example/a", "h", false),
            ("http://[::1]:7780/a", "[::1]:7780", true), ("http://h@h/a", "h", false), ("http://\u{212A}/", "k", false),
        ])
    func anAbsoluteTargetMustNameTheHost(_ target: String, _ host: String, _ isAccepted: Bool) {
        let reading = Self.reading(target, host: host)
        #expect(reading.requests.count == (isAccepted ? 1 : 0))
        if !isAccepted { #expect(reading.failure?.status == .badRequest) }
    }

    @Test func anAbsoluteTargetWithoutHostIsRefused() {
        #expect(HTTPReading.every("GET http://h/ HTTP/1.0\r\n\r\n").failure?.status == .badRequest)
    }
}
