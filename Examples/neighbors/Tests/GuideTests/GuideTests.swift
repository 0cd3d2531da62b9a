// Tests that the blocks of the guide “In a Swift service” are in a program that is compiled and run.

import Foundation
import Testing

struct GuideTests {
    /// This package.
    private static let package = URL(fileURLWithPath: #filePath).appending(path: "../../..").standardized

    /// The lines of a text without their indentation.
    private static func lines(_ text: Substring) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func blocks() throws -> [[String]] {
        let guide = package.appending(path: "../../Sources/TweaksDaemon/TweaksDaemon.docc/InASwiftService.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        return text.matches(of: /(?ms)^```swift-neighbors\n(.*?)^```/).map { lines($0.output.1) }
    }

    @Test func `Each block of the guide is a part of the program`() throws {
        let program = Self.package.appending(path: "quotes-service/Program.swift")
        let lines = Self.lines(try String(contentsOf: program, encoding: .utf8)[...])
        let blocks = try Self.blocks()
        #expect(blocks.count == 5)
        for block in blocks {
            let isPart = lines.indices.contains { lines[$0...].starts(with: block) }
            #expect(isPart, "\(block.first ?? "") …")
        }
    }
}
