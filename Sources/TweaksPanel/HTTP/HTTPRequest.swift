// One HTTP request, as it has come: a method, a target, headers and a body.

/// A whole request (RFC 9112). What it asks for is another matter.
package struct HTTPRequest: Equatable, Sendable {
    /// As it was sent; methods are case-sensitive.
    package var method: String
    /// The path's parts, percent-decoded: `/api/tweaks/A/B%20C` is `["api", "tweaks", "A", "B C"]`; `/` is none.
    package var path: [String]
    /// The query's names and values, percent-decoded, `+` as a blank, in order.
    package var query: [HTTPField] = []
    /// Names are in lower case.
    package var headers: [HTTPField] = []
    package var body: [UInt8] = []
    /// The connection stays open for another one.
    package var keepsAlive = true
    package var version = HTTPVersion.http11

    /// The value of a header that comes once; nil where it does not come, or several times.
    package subscript(header name: String) -> String? {
        let found = headers.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// The values of a name in the query.
    package func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

    /// The values of a header, however often it comes.
    func all(header name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
}

/// The versions that are spoken here.
package enum HTTPVersion: Sendable {
    /// Connections end after one request unless both sides say otherwise; nothing is chunked.
    case http10
    case http11
}

/// A name and a value.
package struct HTTPField: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}
