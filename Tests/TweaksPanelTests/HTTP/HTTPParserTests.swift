// Requests that are taken, one by one and several on one connection.

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
    }

    private static let get = HTTPEvent.request(.sample("GET"))

    private static func posted(_ body: String, _ headers: [HTTPField] = []) -> [HTTPEvent] {
        let request = HTTPRequest.sample("POST", ["a"], [], headers, body: body)
        return [.head(request.withoutBody), .request(request)]
    }

    private static func changed(_ request: HTTPRequest, _ change: (inout HTTPRequest) -> Void) -> HTTPEvent {
        var request = request
        change(&request)
        return .request(request)
    }

    private static let plain: [Case] = [
        Case("nothing", "", []),
        Case("the smallest", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", [get]),
        Case("an empty line before it", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", [get]),
        Case(
            "an empty line before each", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
            [get, get]),
        Case("no blank behind the colon", "GET / HTTP/1.1\r\nHost:h\r\n\r\n", [get]),
        Case("blanks and tabs around a value", "GET / HTTP/1.1\r\nHost: \t h \t\r\n\r\n", [get]),
        Case("a name in other letters", "GET / HTTP/1.1\r\nhOST: h\r\n\r\n", [get]),
        Case(
            "a header without a value", "GET / HTTP/1.1\r\nHost: h\r\nAccept:\r\n\r\n",
            [.request(.sample("GET", [], [], [HTTPField("accept", "")]))]),
        Case(
            "a header twice", "GET / HTTP/1.1\r\nHost: h\r\nX: 1\r\nX: 2\r\n\r\n",
            [.request(.sample("GET", [], [], [HTTPField("x", "1"), HTTPField("x", "2")]))]),
        Case(
            "a value that is not ASCII", "GET / HTTP/1.1\r\nHost: h\r\nX: é:\tb\r\n\r\n",
            [.request(.sample("GET", [], [], [HTTPField("x", "é:\tb")]))]),
        Case(
            "a name of all marks", "GET / HTTP/1.1\r\nHost: h\r\n!#$%&'*+-.^_`|~0aZ: 1\r\n\r\n",
            [.request(.sample("GET", [], [], [HTTPField("!#$%&'*+-.^_`|~0az", "1")]))]),
        Case(
            "Upgrade is somebody else's affair", "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n",
            [.request(.sample("GET", [], [], [HTTPField("upgrade", "websocket")]))]),
    ]

    private static let bodies: [Case] = [
        Case("a body", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", posted("{}")),
        Case(
            "a body of line ends", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n\r\n\r\n",
            posted("\r\n\r\n")),
        Case(
            "a body that looks like a request",
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 27\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
            posted("GET / HTTP/1.1\r\nHost: h\r\n\r\n")),
        Case(
            "no body", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
            [.request(.sample("POST", ["a"], [], [HTTPField("content-length", "0")]))]),
        Case(
            "GET with a body", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx",
            [
                .head(HTTPRequest.sample("GET", body: "x").withoutBody), .request(.sample("GET", body: "x")),
            ]),
        Case(
            "a body that has not come", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{", [posted("{}")[0]]),
        Case(
            "100-continue", "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n{}",
            {
                let events = posted("{}", [HTTPField("expect", "100-Continue")])
                return [events[0], .expectsContinue, events[1]]
            }()),
        Case(
            "100-continue without a body", "GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n",
            [.request(.sample("GET", [], [], [HTTPField("expect", "100-continue")]))]),
        Case(
            "HTTP/1.0 does not know 100-continue",
            "POST /a HTTP/1.0\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
            posted("{}", [HTTPField("expect", "100-continue")]).map { event in
                switch event {
                case .head(var request):
                    (request.version, request.keepsAlive) = (.http10, false)
                    return .head(request)
                case .request(let request):
                    return changed(request) { ($0.version, $0.keepsAlive) = (.http10, false) }
                default: return event
                }
            }),
        Case(
            "two with bodies, and a third begun",
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
                + "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET",
            posted("{}") + posted("abc")),
        Case(
            "a request, and then a bad one", "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            [get, .failure(.malformed("there is no header Host; send Host: name:port"))]),
    ]

    @Test(arguments: plain + bodies) func takes(_ sample: Case) {
        #expect(HTTPReading.every(sample.stream).events == sample.events)
    }

    @Test(arguments: ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]) func takesMethod(_ method: String) {
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
    func knowsWhetherItStays(_ version: String, _ option: String, _ keepsAlive: Bool) throws {
        let header = option.isEmpty ? "" : "Connection: \(option)\r\n"
        let requests = HTTPReading.every("GET / \(version)\r\nHost: h\r\n\(header)\r\n").requests
        #expect(requests.map(\.keepsAlive) == [keepsAlive])
        #expect(requests.map(\.version) == [version == "HTTP/1.1" ? .http11 : .http10])
    }

    /// Who owns the connection gives a request only so much time.
    @Test(
        arguments: [
            ("", false, 0), ("G", true, 1), ("\r", true, 1), ("\r\n", false, 0), ("GET / HTTP/1.1\r\n", true, 0),
            ("GET / HTTP/1.1\r\nHo", true, 2), ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", false, 0),
            ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc", true, 3),
            ("GET / HTTP/1.1\r\nHost: h\r\n\r\nGE", true, 2), ("nonsense\r\n", false, 0),
        ] as [(String, Bool, Int)])
    func knowsWhetherARequestHasBegun(_ stream: String, _ hasBegun: Bool, _ count: Int) {
        let reading = HTTPReading.every(stream)
        #expect(reading.hasBegun == hasBegun)
        #expect(reading.count == count)
    }

    @Test func aRequestThatWasNotTakenOutHasBegun() {
        var parser = HTTPParser()
        parser.append("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        #expect(parser.hasBegun)
        #expect(parser.next() == Self.get)
        #expect(parser.hasBegun)
        #expect(parser.next() == Self.get)
        #expect(!parser.hasBegun)
        #expect(parser.next() == nil)
    }

    /// Ten thousand in one piece: what is left is not moved for each.
    @Test func manyInOnePieceAllComeOut() {
        let one = Array("GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        var stream: [UInt8] = []
        for _ in 0..<10_000 { stream += one }
        var parser = HTTPParser()
        parser.append(stream)
        var count = 0
        while let event = parser.next() {
            if case .request = event { count += 1 }
        }
        #expect(count == 10_000)
        #expect(parser.count == 0)
    }

    @Test func aLargeBodyMayComeByteByByte() throws {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let stream = Array("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        let requests = HTTPReading(stream, sizes: [1]).requests
        #expect(requests.map(\.body) == [body])
    }
}
