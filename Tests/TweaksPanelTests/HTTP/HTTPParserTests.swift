// Tests requests that are accepted, one by one and several on one connection.

import Testing

@testable import TweaksPanel

@Suite struct HTTPParserTests {
    /// A stream and its events.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let stream: String
        let events: [HTTPEvent]

        var testDescription: String { name }

        init(_ name: String, _ stream: String, _ events: [HTTPEvent]) {
            (self.name, self.stream, self.events) = (name, stream, events)
        }

        /// `GET /` with more headers.
        static func get(_ name: String, _ headers: String, _ fields: HTTPField...) -> Case {
            Case(name, "GET / HTTP/1.1\r\nHost: h\r\n\(headers)\r\n\r\n", [.request(.sample("GET", [], [], fields))])
        }

        /// `POST /a` with a body of a length.
        static func post(_ name: String, _ length: Int, _ body: String, _ events: [HTTPEvent]) -> Case {
            Case(name, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n\(body)", events)
        }
    }

    private static let (get, getText) = (HTTPEvent.request(.sample("GET")), "GET / HTTP/1.1\r\nHost: h\r\n\r\n")

    private static func posted(_ body: String, _ headers: [HTTPField] = []) -> [HTTPEvent] {
        let request = HTTPRequest.sample("POST", ["a"], [], headers, body: body)
        return [.head(request.withoutBody), .request(request)]
    }

    private static let plain: [Case] = [
        Case("nothing", "", []), Case("the smallest", getText, [get]),
        Case("an empty line before it", "\r\n\(getText)", [get]),
        Case("an empty line before each", "\r\n\(getText)\r\n\(getText)", [get, get]),
        Case("no blank behind the colon", "GET / HTTP/1.1\r\nHost:h\r\n\r\n", [get]),
        Case("blanks and tabs around a value", "GET / HTTP/1.1\r\nHost: \t h \t\r\n\r\n", [get]),
        Case("a name in other letters", "GET / HTTP/1.1\r\nhOST: h\r\n\r\n", [get]),
        .get("a header without a value", "Accept:", HTTPField("accept", "")),
        .get("a header twice", "X: 1\r\nX: 2", HTTPField("x", "1"), HTTPField("x", "2")),
        .get("a value that is not ASCII", "X: é:\tb", HTTPField("x", "é:\tb")),
        .get("a name of all marks", "!#$%&'*+-.^_`|~0aZ: 1", HTTPField("!#$%&'*+-.^_`|~0az", "1")),
        .get("Upgrade is not for the parser", "Upgrade: websocket", HTTPField("upgrade", "websocket")),
        .get("100-continue without a body", "Expect: 100-continue", HTTPField("expect", "100-continue")),
    ]

    private static let expecting = posted("{}", [HTTPField("expect", "100-Continue")])

    private static let bodies: [Case] = [
        .post("a body", 2, "{}", posted("{}")), .post("a body of line ends", 4, "\r\n\r\n", posted("\r\n\r\n")),
        .post("a body that looks like a request", 27, getText, posted(getText)),
        .post("no body", 0, "", [.request(.sample("POST", ["a"], [], [HTTPField("content-length", "0")]))]),
        Case(
            "GET with a body", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx",
            [.head(HTTPRequest.sample("GET", body: "x").withoutBody), .request(.sample("GET", body: "x"))]),
        .post("an incomplete body", 2, "{", [posted("{}")[0]]),
        Case(
            "100-continue", "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n{}",
            [expecting[0], .expectsContinue, expecting[1]]),
        Case(
            "HTTP/1.0 does not know 100-continue",
            "POST /a HTTP/1.0\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n{}",
            expecting.map(inHTTP10)),
        .post(
            "two with bodies, and a third begun", 2,
            "{}POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET", posted("{}") + posted("abc")),
        Case(
            "a request, and then a bad one", "\(getText)GET / HTTP/1.1\r\n\r\n",
            [get, .failure(.malformed("there is no header Host; send Host: name:port"))]),
    ]

    private static func inHTTP10(_ event: HTTPEvent) -> HTTPEvent {
        switch event {
        case .head(var request), .request(var request):
            (request.version, request.keepsAlive) = (.http10, false)
            return request.body.isEmpty ? .head(request) : .request(request)
        default: return event
        }
    }

    @Test(arguments: plain + bodies) func validRequestsAreParsed(_ sample: Case) {
        #expect(HTTPReading.every(sample.stream).events == sample.events)
    }

    @Test(arguments: ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]) func everyMethodIsParsed(_ method: String) {
        #expect(HTTPReading.every("\(method) / HTTP/1.1\r\nHost: h\r\n\r\n").events == [.request(.sample(method))])
    }

    @Test(
        arguments: [
            ("HTTP/1.1", "", true), ("HTTP/1.1", "close", false), ("HTTP/1.1", "keep-alive", true),
            ("HTTP/1.1", "CLOSE", false), ("HTTP/1.1", "Upgrade , close", false), ("HTTP/1.1", "closed", true),
            ("HTTP/1.1", "\"close\"", true), ("HTTP/1.1", ",,", true), ("HTTP/1.0", "", false),
            ("HTTP/1.0", "keep-alive", true), ("HTTP/1.0", "Keep-Alive", true), ("HTTP/1.0", "close", false),
            ("HTTP/1.0", "keep-alive, close", false), ("HTTP/1.1", "keep-alive\r\nConnection: close", false),
        ] as [(String, String, Bool)])
    func theConnectionStaysByVersionAndOption(_ version: String, _ option: String, _ keepsAlive: Bool) throws {
        let header = option.isEmpty ? "" : "Connection: \(option)\r\n"
        let requests = HTTPReading.every("GET / \(version)\r\nHost: h\r\n\(header)\r\n").requests
        #expect(requests.map(\.keepsAlive) == [keepsAlive])
        #expect(requests.map(\.version) == [version == "HTTP/1.1" ? .http11 : .http10])
    }

    @Test(
        arguments: [
            ("", false, 0), ("G", true, 1), ("\r", true, 1), ("\r\n", false, 0), ("GET / HTTP/1.1\r\n", true, 0),
            ("GET / HTTP/1.1\r\nHo", true, 2), ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", false, 0),
            ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc", true, 3),
            ("GET / HTTP/1.1\r\nHost: h\r\n\r\nGE", true, 2), ("nonsense\r\n", false, 0),
        ] as [(String, Bool, Int)])
    func bytesOfAnIncompleteRequestAreReported(_ stream: String, _ hasBegun: Bool, _ count: Int) {
        let reading = HTTPReading.every(stream)
        #expect(reading.hasBegun == hasBegun && reading.count == count)
    }

    @Test func aRequestThatWasNotConsumedHasBegun() {
        var parser = HTTPParser()
        parser.append((Self.getText + Self.getText).utf8)
        for _ in 1...2 {
            #expect(parser.hasBegun)
            #expect(parser.next() == Self.get)
        }
        #expect(!parser.hasBegun)
        #expect(parser.next() == nil)
    }

    /// In linear time.
    @Test func tenThousandRequestsInOnePieceAreParsed() {
        var parser = HTTPParser()
        parser.append(String(repeating: "GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n", count: 10_000).utf8)
        var count = 0
        while let event = parser.next() {
            if case .request = event { count += 1 }
        }
        #expect(count == 10_000 && parser.count == 0)
    }

    @Test func aLargeBodyMayArriveByteByByte() throws {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let stream = Array("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        #expect(HTTPReading(stream, sizes: [1]).requests.map(\.body) == [body])
    }
}
