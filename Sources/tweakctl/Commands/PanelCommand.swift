// Prints the address of a process's web panel and opens it in a browser.

import Tweaks
import TweaksSystem
import TweaksWire

/// `panel`, `panel rotate` and `panel token`. The address or the token is always printed. A browser is opened if standard
/// output is a terminal and there is a display, unless `--no-open` is given.
struct PanelCommand {
    let target: Target
    let console: Console
    /// `rotate` or `token`; nil for the address.
    let word: String?
    let opens: Bool

    /// The usage line.
    static let usage = "panel [rotate | token] [--no-open]"

    /// - Parameter words: The words after the process's name; nil where they are another command.
    init?(_ words: [String], _ target: Target, _ console: Console) throws(Failure) {
        guard words.first == "panel" else { return nil }
        let rest = words.dropFirst()
        let words = rest.filter { $0 != "--no-open" }
        if let word = words.first(where: { $0.hasPrefix("-") }) {
            throw Invocation.notAnOption(
                word, of: "panel", ["--no-open"], or: "use tweakctl NAME \(Self.usage)")
        }
        guard words.count <= 1, Set(words).isSubset(of: ["rotate", "token"]), rest.count <= words.count + 1 else {
            throw Failure(.usage, "panel: use tweakctl NAME \(Self.usage)")
        }
        self.target = target
        self.console = console
        word = words.first
        let mayOpen = !rest.contains("--no-open") && word != "token" && !console.isJSON
        opens = mayOpen && System.isTerminal(1) && Self.hasDisplay
    }

    private static var hasDisplay: Bool {
        #if os(macOS)
            true
        #else
            ["DISPLAY", "WAYLAND_DISPLAY"].contains { System.variable($0) != nil }
        #endif
    }

    /// Requests the address or the token, prints it, and opens the address.
    func run() throws(Failure) -> ExitCode {
        let connection = try target.connect()
        if console.isJSON { try target.switchToJSON(connection) }
        let answer = try target.ask(word.map { "panel \($0)" } ?? "panel", on: connection)
        guard !answer.isRefusal, !console.isJSON, let text = answer.field(word == "token" ? "token" : "address") else {
            console.report(answer)
            return answer.isRefusal ? .refused : .ok
        }
        console.print([text])
        if opens { open(text) }
        return .ok
    }

    // MARK: Opening

    /// Opens a file that redirects to the address. The address holds a code, and every user of this machine can read
    /// the arguments of a program.
    private func open(_ address: String) {
        guard case .unix(let socket) = target.address else { return }
        let path = socket + ".panel.html"
        do throws(FileProblem) {
            try Folder.replace(path, with: Self.page(address))
        } catch {
            return console.reportProblem("\(path): \(error.reason); open the address in a browser")
        }
        if !Self.start(path) { console.reportProblem("no browser could be started; open the address in a browser") }
    }

    /// An HTML page that redirects to the address.
    static func page(_ address: String) -> String {
        let safe = address.unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                || "-._~:/#[]=".unicodeScalars.contains(scalar) ? String(scalar) : ""
        }.joined()
        return """
            <!doctype html>
            <meta charset="utf-8"><meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0;url=\(safe)">
            <title>Panel</title><a href="\(safe)">Open the panel</a>

            """
    }

    /// Runs the system's file opener, and waits until it has started the browser.
    private static func start(_ path: String) -> Bool {
        #if os(macOS)
            let opener = "open"
        #else
            let opener = "xdg-open"
        #endif
        // Through the shell, which passes the environment on.
        let quoted = "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        guard let pipe = popen("exec \(opener) \(quoted) >/dev/null 2>&1", "r") else { return false }
        return pclose(pipe) == 0
    }
}
