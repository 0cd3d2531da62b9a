// Serves the page, its styles and modules, which browsers cache until the program's version changes, and the notice.

import CTweaksPanelFiles
import Tweaks
import TweaksWire

/// The files that the target CTweaksPanelFiles embeds.
package enum PanelFiles {
    /// Every file by its name, such as `openapi.json` or `page/main.js`, in the order of the table.
    package static let all: [(name: String, bytes: [UInt8])] = {
        let files = UnsafeBufferPointer(start: tweaks_panel_files(), count: tweaks_panel_files_count())
        return files.map { (String(cString: $0.name), Array(String(cString: $0.text).utf8)) }
    }()

    /// The description of the HTTP API: OpenAPI 3.1.
    package static let openAPI = all.first { $0.name == "openapi.json" }?.bytes ?? []

    /// The page at addresses that have no panel.
    package static let notice = all.first { $0.name == "notice.html" }?.bytes ?? []
}

/// Tells contents apart, by FNV-1a: a collision gains an attacker nothing, and a debug build computes it in
/// milliseconds.
struct ContentHash {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    var text: String { String(value, radix: 16) }
}

/// The page, and the description of the API.
struct PanelPage: Sendable {
    /// The page of a program that adds nothing to it.
    static let plain = PanelPage(PanelFiles.all)

    /// The markup. Its links contain the version, so that a browser never uses cached files of another version.
    let markup: HTTPResponse
    /// Identifies the contents of all files.
    let version: String
    /// The files in `page`, by their names relative to it.
    private let files: [String: HTTPResponse]

    /// The page with the files of an extension.
    init(_ addition: PanelExtension) {
        self.init(PanelFiles.all + addition.files, start: "\(addition.name)/main.js")
    }

    /// - Parameter start: A module that the page starts after its own.
    private init(_ all: [(name: String, bytes: [UInt8])], start: String? = nil) {
        files = Self.responses(all)
        version = Self.hash(all)
        // Preloaded, so that no import waits for another one.
        let modules = files.keys.filter { $0.hasSuffix(".js") }
        var links = modules.sorted().map { "<link rel=\"modulepreload\" href=\"panel/\($0)\">" }
        if let start { links.append("<script type=\"module\" src=\"panel/\(start)\"></script>") }
        let text = String(decoding: files["index.html"]?.body ?? [], as: UTF8.self)
            .substituting(links.joined(separator: "\n    "), for: Self.placeholder)
            .substituting("\"panel/\(version)/", for: "\"panel/")
        markup = HTTPResponse(.ok, [HTTPField("Content-Type", "text/html; charset=utf-8")], body: Array(text.utf8))
    }

    /// The markup. In a program's own router it says that the site signs in its users.
    func markup(isMounted: Bool) -> HTTPResponse {
        if !isMounted { return markup }
        var mounted = markup
        let text = String(decoding: markup.body, as: UTF8.self)
        mounted.body = Array(text.substituting("<html data-mounted ", for: "<html ").utf8)
        return mounted
    }

    /// The comment in `index.html` that the links replace.
    private static let placeholder =
        "<!-- modulepreload: the server writes a link for each module here -->"

    static let openAPI = HTTPResponse(
        .ok, [HTTPField("Content-Type", "application/json")], body: PanelFiles.openAPI)

    /// A file of the page; nil if this version has no file of that name.
    func file(_ name: String, version: String) -> HTTPResponse? { version == self.version ? files[name] : nil }

    private static func responses(_ all: [(name: String, bytes: [UInt8])]) -> [String: HTTPResponse] {
        let folder = "page/"
        var page = all.filter { $0.name.hasPrefix(folder) }
        // One request instead of eight: browsers draw a page only once all its styles are loaded.
        page.append((folder + "page.css", page.filter { $0.name.hasSuffix(".css") }.flatMap(\.bytes)))
        return Dictionary(
            uniqueKeysWithValues: page.map { file in
                let name = String(file.name.dropFirst(folder.count))
                let headers = [
                    HTTPField("Content-Type", type(of: name)),
                    HTTPField("Cache-Control", "public, max-age=31536000, immutable"),
                ]
                return (name, HTTPResponse(.ok, headers, body: file.bytes))
            })
    }

    static func hash(_ all: [(name: String, bytes: [UInt8])]) -> String {
        var hash = ContentHash()
        for file in all { hash.add(file.bytes[...]) }
        return hash.text
    }

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/html; charset=utf-8"
        }
    }

    /// Writes responses with the page's policy: only its own scripts and styles, from files (CSP level 3).
    static let writer = HTTPWriter(
        contentSecurityPolicy: """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """)
}

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
