// One HTTP request, as it has come: a method, a target, headers and a body.

/// A whole request (RFC 9112). What it asks for is another matter.
struct HTTPRequest: Equatable, Sendable {
    /// As it was sent; methods are case-sensitive.
    var method: String
    /// The path's parts, percent-decoded: `/api/tweaks/A/B%20C` is `["api", "tweaks", "A", "B C"]`; `/` is none.
    var path: [String]
    /// The query's names and values, percent-decoded, `+` as a blank, in order.
    var query: [HTTPField] = []
    /// Names are in lower case.
    var headers: [HTTPField] = []
    var body: [UInt8] = []
    /// The connection stays open for another one.
    var keepsAlive = true

    /// The value of a header that comes once; nil where it does not come, or several times.
    subscript(header name: String) -> String? {
        let found = headers.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// The values of a name in the query.
    func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }
}

/// A name and a value.
struct HTTPField: Equatable, Sendable {
    var name: String
    var value: String

    init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}
