// Locates and runs installed programs.

import Foundation

/// A program on the path.
package struct Tool: Sendable {
    package static let bash = Tool("bash")
    /// The headless shell of Chromium. The full browser is not used instead: its pages take five times as long, and it
    /// closes tabs later than it says. The path avoids Debian's wrapper script, which does not forward signals.
    package static let chromium =
        Tool("chromium-headless-shell", in: ["/usr/lib/chromium"]) ?? Tool("chrome-headless-shell")
    package static let nc = Tool("nc")
    package static let telnet = Tool("telnet")
    package static let setpriv = Tool("setpriv")
    package static let unshare = Tool("unshare")
    package static let setsid = Tool("setsid")
    package static let sh = Tool("sh")
    package static let sha256sum = Tool("sha256sum")
    package static let curl = Tool("curl")

    package let path: String

    private init(_ name: String) {
        self = Tool(name, in: ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"]) ?? Tool(path: name)
    }

    private init?(_ name: String, in directories: [String]) {
        let paths = directories.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else { return nil }
        self.path = path
    }

    private init(path: String) { self.path = path }

    /// Whether it is installed.
    package var exists: Bool { path.hasPrefix("/") }

    /// Runs it to its end and returns what it printed.
    package func run(_ arguments: [String], input: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let (toTool, fromTool) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (toTool, fromTool)
        try process.run()
        // The input may exceed what a pipe holds.
        Thread.detachNewThread {
            toTool.fileHandleForWriting.writeUnlessBroken(input)
            try? toTool.fileHandleForWriting.close()
        }
        defer { if process.isRunning { process.terminate() } }
        let output = try fromTool.fileHandleForReading.readRest()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
}
