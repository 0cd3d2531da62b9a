// Builds requests from text, and routes them.

import Testing

@testable import TweaksPanel

extension HTTPRequest {
    /// `PATCH /api/tweaks {"changes":[…]}`; the path is not decoded, the query is `name=value` without escapes.
    init(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 2).map(String.init)
        let target = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        let parts = target[0].utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        self.init(method: words[0], path: target[0] == "/" ? [] : parts.dropFirst().map { String(Substring($0)) })
        query = (target.dropFirst().first ?? "").split(separator: "&").map { field in
            let sides = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return HTTPField(sides[0], sides.dropFirst().first ?? "")
        }
        body = words.count > 2 ? Array(words[2].utf8) : []
    }
}

extension PanelRouter {
    /// The failure of a request.
    static func failure(_ request: HTTPRequest) throws -> HTTPFailure {
        try #require(throws: HTTPFailure.self, "\(request)") { try action(for: request) }
    }

    /// The action or the failure of a request.
    static func result(_ request: HTTPRequest) -> Result<PanelAction, HTTPFailure> {
        do throws(HTTPFailure) {
            return .success(try action(for: request))
        } catch {
            return .failure(error)
        }
    }
}
