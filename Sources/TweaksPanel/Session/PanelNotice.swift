// Serves the notice at addresses without a page: it says how to open the panel.

import Tweaks
import TweaksWire

/// A document without script, links, storage and sign-in. Pages of other processes may have had its address, so it names
/// a command instead of leading anywhere.
enum PanelNotice {
    static let response = HTTPResponse(
        .ok, [HTTPField("Content-Type", "text/html; charset=utf-8")], body: PanelFiles.notice)

    /// Writes the notice with a policy that allows only its own style, by its digest, and its empty icon.
    static let writer: HTTPWriter = {
        let digest = Base64.encode(SHA256.digest(style.utf8))
        return HTTPWriter(
            contentSecurityPolicy: """
                default-src 'none'; style-src 'sha256-\(digest)'; img-src data:; base-uri 'none'; form-action 'none'; \
                frame-ancestors 'none'
                """)
    }()

    /// The text between the tags of its style.
    private static let style: String = {
        let text = String(decoding: PanelFiles.notice, as: UTF8.self)
        guard let begin = text.occurrences(of: "<style>").first, let end = text.occurrences(of: "</style>").first,
            begin.upperBound < end.lowerBound
        else { return "" }
        return String(text[begin.upperBound..<end.lowerBound])
    }()
}
