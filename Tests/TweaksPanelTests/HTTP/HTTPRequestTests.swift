import Testing

@testable import TweaksPanel

/// What a request says about itself.
@Suite struct HTTPRequestTests {
    @Test func aHeaderThatComesTwiceIsNone() {
        var request = HTTPRequest(method: "GET", path: [])
        request.headers = [HTTPField("host", "a"), HTTPField("accept", "b"), HTTPField("accept", "c")]
        #expect(request[header: "host"] == "a")
        #expect(request[header: "accept"] == nil)
    }
}
