// Runs bounce: moves a label across the terminal while clients change its tweaks.

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

        Or open its panel in a browser: p shows the address, which is also printed at the start.
        The terminal should support 24-bit color; most others show the nearest color.
        Keys: q quits, p shows the panel's address, space pauses, r recenters, s surprises.
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

    /// Starts the daemon with one call; the first client sees everything that is declared before it.
    private static func run(isDrawing: Bool) async throws {
        // Lists show tweaks in the order of registration; this registers those of all modules before the actions.
        TweakDaemon.registerLists()
        let loop = AnimationLoop()
        let daemon = try TweakDaemon.start(
            "bounce", tcp: .open(port: 7777), panel: .on(port: 7780), previews: true, sources: [.etcd()],
            onEvent: isDrawing ? logAddress : nil)
        defer { daemon.stop() }

        let show = Task {
            isDrawing ? await loop.run(hint: hint(for: daemon), panel: { daemon.panelAddress }) : await printChanges()
        }
        // Without drawing there is no terminal to restore, so Ctrl-Z keeps its default action.
        let signals = Signals.stream([SIGINT, SIGTERM, SIGQUIT] + (isDrawing ? [SIGTSTP, SIGHUP] : []))
        let watch = Task {
            for await signal in signals {
                if signal == SIGTSTP { loop.suspend() } else { show.cancel() }
            }
        }
        await show.value
        watch.cancel()
    }

    private static func fail(_ message: String, code: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(code)
    }

    /// Logs only the address: other log lines would overwrite the picture.
    private static let logAddress: TweakDaemon.EventHandler = { event in
        guard case .listening = event else { return }
        FileHandle.standardError.write(Data("bounce: \(event)\n".utf8))
    }

    /// The status line, with the address to connect to.
    private static func hint(for daemon: TweakDaemon) -> StatusLine {
        StatusLine(address: daemon.port.map { "nc 127.0.0.1 \($0)" } ?? daemon.socketPath.map { "nc -U \($0)" })
    }

    /// Prints a line for each change, until the task is canceled.
    private static func printChanges() async {
        for await commit in TweakRegistry.shared.changes {
            for change in commit.changes {
                Terminal.write("\(change) by \(commit.origin), rev \(commit.revision)\n".utf8)
            }
        }
    }
}
