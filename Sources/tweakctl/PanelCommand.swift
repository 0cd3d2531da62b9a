// The command panel: prints the address of a process's web page, and opens it in a browser.

import Tweaks
import TweaksSystem
import TweaksTerminal
import TweaksWire

/// `panel` and `panel rotate`. The address is always printed. A browser is opened where a person sits at a terminal with
/// a display, unless `--no-open` says otherwise.
struct PanelCommand {
    let target: Target
    let console: Console
    let rotates: Bool
    let opens: Bool

    /// How it is called.
    static let usage = "panel [rotate] [--no-open]"

    /// - Parameter words: What stands behind the name; nil where that is no such command.
    init?(_ words: [String], _ target: Target, _ console: Console) throws(Failure) {
        guard words.first == "panel" else { return nil }
        let rest = words.dropFirst()
        guard Set(rest).isSubset(of: ["rotate", "--no-open"]), Set(rest).count == rest.count else {
            throw Failure(.usage, "panel: write tweakctl NAME \(Self.usage)")
        }
        (self.target, self.console, rotates) = (target, console, rest.contains("rotate"))
        opens = !rest.contains("--no-open") && !console.isJSON && System.isTerminal(1) && Self.hasDisplay
    }

    private static var hasDisplay: Bool {
        #if os(macOS)
            true
        #else
            ["DISPLAY", "WAYLAND_DISPLAY"].contains { System.variable($0) != nil }
        #endif
    }

    /// Asks for the address, prints it, and opens it.
    func run() throws(Failure) -> ExitCode {
        let connection = try target.connect()
        if console.isJSON, let answer = connection.ask("json on"), answer.isRefusal {
            throw Failure(.refused, "\(target.name): \(Painter.refusal(answer.status))")
        }
        guard let answer = connection.ask(rotates ? "panel rotate" : "panel") else {
            throw Failure(.unreachable, "\(target.name) \(connection.end) without an answer")
        }
        let label = "  address: "
        guard !answer.isRefusal, !console.isJSON, let line = answer.body.first(where: { $0.hasPrefix(label) }) else {
            console.report(answer)
            return answer.isRefusal ? .refused : .ok
        }
        let address = String(line.dropFirst(label.count))
        console.print([address])
        if opens { open(address) }
        return .ok
    }

    // MARK: Opening

    /// Hands the browser a file that leads to the address: arguments of a program can be read by everybody on this machine,
    /// and there is a token in the address.
    private func open(_ address: String) {
        guard case .unix(let socket) = target.address else { return }
        let path = socket + ".panel.html"
        do throws(FileProblem) {
            try Folder.replace(path, with: Self.page(address))
        } catch {
            return console.complain("\(path): \(error.reason); open the address yourself")
        }
        if !Self.start(path) { console.complain("no browser could be started; open the address yourself") }
    }

    /// A page that goes there at once.
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

    /// Starts the program that opens files, and waits until it has handed the file over.
    private static func start(_ path: String) -> Bool {
        #if os(macOS)
            let opener = "open"
        #else
            let opener = "xdg-open"
        #endif
        // By the shell, which hands on the environment.
        let quoted = "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        guard let pipe = popen("exec \(opener) \(quoted) >/dev/null 2>&1", "r") else { return false }
        return pclose(pipe) == 0
    }
}
