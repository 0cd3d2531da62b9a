// Tells the addresses of the panel apart: the page's own, its other names, earlier ones, and that for programs.

/// The address that a request was sent to, by its header `Host`.
package enum PanelPlace: Equatable, Sendable {
    /// A loopback address: the API for programs. It has no page, since it is the same in every process that listens at
    /// this port, and so is what their pages leave in browsers.
    case programs
    /// `ID.localhost` with the current ID: the page, which may store keys there.
    case page(id: String)
    /// Another name or address of the page, where nothing is stored.
    case name(String)
    /// `ID.localhost` with another ID: pages that are open there go on; nothing is loaded or signed in.
    case earlier(id: String)

    /// The origin of a sign-in there; a sign-in is valid nowhere else.
    package var origin: String {
        switch self {
        case .programs: Self.programsOrigin
        case .page(let id), .name(let id), .earlier(let id): id
        }
    }

    /// The origin of the sign-ins of programs.
    package static let programsOrigin = "-"

    /// Whether the page is served here.
    var hasPage: Bool {
        switch self {
        case .page, .name: true
        case .programs, .earlier: false
        }
    }
}

/// The part of the page's address that no other process has had, nor can guess.
package enum PanelID {
    /// More than 128 bits, in letters that are valid in a host name.
    package static let count = 26
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let domain = ".localhost"

    /// Makes a random ID.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let letters = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
        return String(decoding: letters, as: UTF8.self)
    }

    package static func isWellFormed(_ text: some StringProtocol) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy(alphabet.contains)
    }

    /// The host of an ID. Browsers resolve it to this machine by themselves, and treat it as secure.
    package static func host(_ id: String) -> String { id + domain }

    /// The ID in a host name in lower case; nil in another one.
    static func id(inHost name: String) -> String? {
        guard name.hasSuffix(domain), case let id = name.dropLast(domain.utf8.count), isWellFormed(id) else {
            return nil
        }
        return String(id)
    }
}
