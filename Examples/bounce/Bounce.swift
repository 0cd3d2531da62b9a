// The program: a label that moves in the terminal, while anybody who connects changes how.

import Foundation
import TweaksDaemon
import TweaksFleet

@main
@MainActor
struct Bounce {
    static let usage = """
        Usage: bounce [--headless]

        Moves a label across the terminal. While it runs, connect and change it:

            nc 127.0.0.1 7777
            Label/Text/Size = 40

        --headless   do not draw; print one line for each change until SIGTERM or SIGINT.
                     This is also what happens where standard output is not a terminal.

        The terminal should know 24-bit colour (most do; of those that do not, most show the nearest).
        Or open its panel in a browser: p shows the address, which is also printed at the start.
        Keys: q quits, p shows the panel's address, space pauses, r recentres, s surprises.
        """

    static func main() async {
        let arguments = Set(CommandLine.arguments.dropFirst())
        if arguments.contains("--help") || arguments.contains("-h") { return print(usage) }
        guard arguments.isSubset(of: ["--headless"]) else { fail(usage, code: 2) }
        do {
            try await run(isDrawing: Terminal.isPresent && arguments.isEmpty)
        } catch {
            fail("bounce: \(error)", code: 1)
        }
    }

    /// All that makes a program tweakable is one call; what is declared before it is there for the first client.
    private static func run(isDrawing: Bool) async throws {
        // The tweaks of all modules come before the actions of the stage in every list; the start would declare them last.
        TweakDaemon.registerLists()
        let stage = Stage()
        let daemon = try TweakDaemon.start(
            "bounce", tcp: .open(port: 7777), panel: .on(port: 7780), sources: [.etcd()],
            onEvent: isDrawing ? sayWhere : nil)
        defer { daemon.stop() }

        let show = Task {
            isDrawing ? await stage.perform(hint: hint(for: daemon), panel: daemon.panelAddress) : await printChanges()
        }
        // Without a picture there is no terminal to give back, and Ctrl-Z does what it always does.
        let signals = Signals.stream([SIGINT, SIGTERM, SIGQUIT] + (isDrawing ? [SIGTSTP, SIGHUP] : []))
        let watch = Task {
            for await signal in signals {
                if signal == SIGTSTP { stage.suspend() } else { show.cancel() }
            }
        }
        await show.value
        watch.cancel()
    }

    private static func fail(_ message: String, code: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(code)
    }

    /// While the picture is on the screen, a log would run across it.
    private static let sayWhere: TweakDaemon.EventHandler = { event in
        guard case .listening = event else { return }
        FileHandle.standardError.write(Data("bounce: \(event)\n".utf8))
    }

    /// How to connect, for the line below the picture.
    private static func hint(for daemon: TweakDaemon) -> StatusLine {
        StatusLine(address: daemon.port.map { "nc 127.0.0.1 \($0)" } ?? daemon.socketPath.map { "nc -U \($0)" })
    }

    /// One line for each change, until it is cancelled.
    private static func printChanges() async {
        for await commit in TweakRegistry.shared.changes {
            for change in commit.changes {
                Terminal.write("\(change) by \(commit.origin), rev \(commit.revision)\n".utf8)
            }
        }
    }
}
