// What a page looks like, as PNG, and kept with the results of the tests.

import Foundation
package import Testing

extension Browser {
    /// The page's view as a PNG.
    package func picture() throws -> [UInt8] {
        let text = try command("Page.captureScreenshot", about: "picture")["data"].string ?? ""
        guard let data = Data(base64Encoded: text), !data.isEmpty else {
            throw BrowserError(code: "no picture", description: "picture: not base64: \(text.prefix(40))")
        }
        return Array(data)
    }

    /// Keeps a picture with the results: `swift test --attachments-path DIRECTORY` writes it there.
    /// - Parameter name: Of the file, without `.png`.
    package func attach(_ name: String, at location: SourceLocation = #_sourceLocation) throws {
        Attachment.record(try picture(), named: "\(name).png", sourceLocation: location)
    }
}
