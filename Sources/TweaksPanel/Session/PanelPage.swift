// The page: its markup, and its styles and modules, which browsers keep for as long as the program stays the same.

import Tweaks
import TweaksWire

/// The page and what the API says of itself.
enum PanelPage {
    /// The markup. Its links lead to the files of this version, so that a browser that keeps them sees another one at once.
    static let markup: HTTPResponse = {
        // No import waits for another one. The drawer is loaded when it is needed.
        let modules = files.keys.filter { $0.hasSuffix(".js") && !$0.hasPrefix("drawer/") }
        let links = modules.sorted().map { "<link rel=\"modulepreload\" href=\"/panel/\($0)\">" }
        let text = String(decoding: files["index.html"]?.body ?? [], as: UTF8.self)
            .substituting(links.joined(separator: "\n    "), for: placeholder)
            .substituting("\"/panel/\(version)/", for: "\"/panel/")
        return HTTPResponse(.ok, [HTTPField("Content-Type", "text/html; charset=utf-8")], body: Array(text.utf8))
    }()

    /// What the links stand for in `index.html`.
    private static let placeholder =
        "<!-- modulepreload: the server writes a link for each module here but for those of the drawer -->"

    static let openAPI = HTTPResponse(
        .ok, [HTTPField("Content-Type", "application/json")], body: PanelFiles.openAPI)

    /// A file of the page; nil where there is none of that name in this version.
    static func file(_ name: String, version: String) -> HTTPResponse? {
        version == Self.version ? files[name] : nil
    }

    /// The files below `page`, by their names there.
    private static let files: [String: HTTPResponse] = {
        let folder = "page/"
        var page = PanelFiles.all.filter { $0.name.hasPrefix(folder) }
        // One request instead of eight: a page is painted when all of them have come.
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
    }()

    /// Tells the files of this program from those of another.
    static let version: String = {
        // FNV-1a: nobody gains by two versions that look the same, and a debug build has it in milliseconds.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for file in PanelFiles.all {
            for byte in file.bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        return String(hash, radix: 16)
    }()

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/html; charset=utf-8"
        }
    }

    /// Writes responses under the page's policy: only its own scripts and styles, from files (CSP level 3).
    static let writer = HTTPWriter(
        contentSecurityPolicy: """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """)
}
