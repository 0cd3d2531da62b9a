// Takes screenshots of a page and attaches them to test results.

import Foundation
package import Testing

extension Browser {
    /// Whether the results are written to a directory; screenshots cost more than most tests do otherwise.
    package static let attachesScreenshots = CommandLine.arguments.contains { $0.hasPrefix("--attachments-path") }

    /// The page's view as a PNG.
    package func screenshot() throws -> [UInt8] {
        let text = try command("Page.captureScreenshot", about: "screenshot")["data"].string ?? ""
        guard let data = Data(base64Encoded: text), !data.isEmpty else {
            throw BrowserError(code: "no screenshot", description: "screenshot: not base64: \(text.prefix(40))")
        }
        return Array(data)
    }

    /// Attaches a screenshot to the results, where `swift test --attachments-path DIRECTORY` writes them to a directory.
    /// - Parameter name: Of the file, without `.png`.
    package func attach(_ name: String, at location: SourceLocation = #_sourceLocation) throws {
        guard Self.attachesScreenshots else { return }
        Attachment.record(try screenshot(), named: "\(name).png", sourceLocation: location)
    }
}
