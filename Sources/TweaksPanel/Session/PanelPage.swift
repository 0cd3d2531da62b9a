// The page as it is in the binary, and the policy that keeps it from running anything else.

import TweaksWire

/// The page and what the API says of itself.
enum PanelPage {
    private static let htmlHeaders = [
        HTTPField("Content-Type", "text/html; charset=utf-8"), HTTPField("Vary", "Accept-Encoding"),
    ]
    private static let html = HTTPResponse(.ok, htmlHeaders, body: PanelFiles.page)
    /// A third of it, made for the first one who asks: a process at which nobody looks need not hold it. There is no secret
    /// in it that its size could tell of.
    private static let packed = HTTPResponse(
        .ok, htmlHeaders + [HTTPField("Content-Encoding", "gzip")], body: Gzip.compress(PanelFiles.page))

    /// The page, in the form that a browser wants.
    static func html(_ request: HTTPRequest) -> HTTPResponse { acceptsGzip(request) ? packed : html }

    /// RFC 9110, section 12.5.3, as far as browsers go: named, and not with the weight 0.
    private static func acceptsGzip(_ request: HTTPRequest) -> Bool {
        request[header: "accept-encoding"]?.split(separator: ",").contains { part in
            let words = part.lowercased().split { $0 == ";" || $0 == " " }
            return words.first == "gzip" && !words.contains { ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0) }
        } ?? false
    }

    static let openAPI = HTTPResponse(
        .ok, [HTTPField("Content-Type", "application/json")], body: PanelFiles.openAPI)

    /// Writes responses under the page's policy.
    static let writer = HTTPWriter(contentSecurityPolicy: policy(for: PanelFiles.page))

    /// Only the scripts and styles that are in the page itself run, each known by its digest (CSP level 3).
    static func policy(for page: [UInt8]) -> String {
        let parts = [
            "default-src 'none'", "script-src \(sources("script", in: page))",
            "style-src \(sources("style", in: page))", "img-src data:", "connect-src 'self'", "base-uri 'none'",
            "form-action 'none'", "frame-ancestors 'none'",
        ]
        return parts.joined(separator: "; ")
    }

    private static func sources(_ element: String, in page: [UInt8]) -> String {
        let digests = contents(of: element, in: page).map { content in
            "'sha256-\(Base64.encode(SHA256.digest(content)))'"
        }
        return digests.isEmpty ? "'none'" : digests.joined(separator: " ")
    }

    /// What stands between the tags of each element of a kind. The page is ours: that its scripts hold no such tag in a
    /// text is seen when it is loaded.
    static func contents(of element: String, in page: [UInt8]) -> [ArraySlice<UInt8>] {
        var (found, rest) = ([ArraySlice<UInt8>](), page[...])
        while let opening = rest.firstRange(of: Array("<\(element)".utf8)),
            let start = rest[opening.upperBound...].firstIndex(of: UInt8(ascii: ">")),
            let end = rest[start...].firstRange(of: Array("</\(element)>".utf8))
        {
            found.append(rest[(start + 1)..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        return found
    }
}
