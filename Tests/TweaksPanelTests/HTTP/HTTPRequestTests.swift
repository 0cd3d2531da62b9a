// Tests the access to the headers of a request.

import Testing

@testable import TweaksPanel

@Suite struct HTTPRequestTests {
    @Test func aRepeatedHeaderHasNoValue() {
        var request = HTTPRequest(method: "GET", path: [])
        request.headers = [HTTPField("host", "a"), HTTPField("accept", "b"), HTTPField("accept", "c")]
        #expect(request[header: "host"] == "a" && request[header: "accept"] == nil)
    }
}
