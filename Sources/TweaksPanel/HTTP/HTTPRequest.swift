// Defines a parsed HTTP request: method, path, query, headers and body.

/// A complete request (RFC 9112), independent of the routes.
package struct HTTPRequest: Equatable, Sendable {
    /// As sent; methods are case-sensitive.
    package var method: String
    /// The path's parts, percent-decoded: `/api/tweaks/A/B%20C` is `["api", "tweaks", "A", "B C"]`; `/` is none.
    package var path: [String]
    /// The query's names and values, percent-decoded, `+` as a space, in order.
    package var query: [HTTPField] = []
    /// Names are in lower case.
    package var headers: [HTTPField] = []
    package var body: [UInt8] = []
    /// Whether the connection stays open for another request.
    package var keepsAlive = true
    package var version = HTTPVersion.http11

    /// The value of a header that occurs once; nil if it is missing, or occurs several times.
    package subscript(header name: String) -> String? {
        let found = headers.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// The values of a name in the query.
    package func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

    /// All values of a header.
    func all(header name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
}

/// The supported versions of HTTP.
package enum HTTPVersion: Sendable {
    /// Connections end after one request unless both sides send `keep-alive`; there is no chunked encoding.
    case http10
    case http11
}

/// A name and a value.
package struct HTTPField: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}
