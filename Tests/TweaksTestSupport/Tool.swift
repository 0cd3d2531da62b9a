// Programs that a person would use, where this machine has them.

import Foundation

/// A program on the path.
package struct Tool: Sendable {
    package static let bash = Tool("bash")
    package static let chromedriver = Tool("chromedriver")
    package static let chromium = Tool("chromium")
    package static let nc = Tool("nc")
    package static let telnet = Tool("telnet")
    package static let setpriv = Tool("setpriv")
    package static let setsid = Tool("setsid")
    package static let sh = Tool("sh")
    package static let sha256sum = Tool("sha256sum")
    package static let curl = Tool("curl")

    package let path: String

    private init(_ name: String) {
        let places = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(name)" }
        path = places.first { FileManager.default.isExecutableFile(atPath: $0) } ?? name
    }

    /// Whether this machine has it.
    package var exists: Bool { path.hasPrefix("/") }

    /// Runs it to its end and returns what it printed.
    package func run(_ arguments: [String], input: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let (toTool, fromTool) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (toTool, fromTool)
        try process.run()
        // Its reader may wait for more than a pipe holds.
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
