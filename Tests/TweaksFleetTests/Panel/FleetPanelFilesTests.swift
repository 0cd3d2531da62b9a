// Tests the files that the page of a fleet adds: embedded, short, and without import cycles.

import Foundation
import Testing
import TweaksPanel
import TweaksTestSupport

@testable import TweaksFleetOperator

@Suite struct FleetPanelFilesTests {
    private static let files = FleetPanel.files.map { file in
        (name: String(file.name.dropFirst(5)), text: String(decoding: file.bytes, as: UTF8.self))
    }

    /// The names of the modules that a module imports.
    private static func imports(_ name: String, _ text: String) -> [String] {
        text.matches(of: /(?:from|import) '(\.[^']+)'/).map { match in
            var parts = name.split(separator: "/").dropLast()
            for part in match.1.split(separator: "/") where part != "." {
                if part == ".." { parts.removeLast() } else { parts.append(part) }
            }
            return parts.joined(separator: "/")
        }
    }

    @Test func `Every file of the directory is embedded`() throws {
        let root = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../../Sources/TweaksFleetPanelFiles/page")
        let path = root.standardizedFileURL.path
        let found = try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.contains(".") }
        #expect(found.sorted() == Self.files.map(\.name).sorted())
    }

    @Test func `Every file is short, and begins with a sentence`() {
        for (name, text) in Self.files {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 300, "\(name)")
            for (number, line) in lines.enumerated() { #expect(line.count <= 110, "\(name):\(number + 1)") }
            let isModule = name.hasSuffix(".js")
            #expect(lines[0].hasPrefix(isModule ? "// " : "/* "), "\(name)")
            #expect(lines[0].hasSuffix(isModule ? "." : ". */"), "\(name)")
            #expect(!text.contains("import("), "\(name)")
        }
    }

    @Test func `Modules import what is there, and have no cycle`() {
        let panel = PanelFiles.all.filter { $0.name.hasPrefix("page/") }
            .map { (name: String($0.name.dropFirst(5)), text: String(decoding: $0.bytes, as: UTF8.self)) }
        var rest = Dictionary(
            uniqueKeysWithValues: (panel + Self.files).map { ($0.name, Set(Self.imports($0.name, $0.text))) })
        for (name, imports) in rest {
            for other in imports { #expect(rest[other] != nil, "\(name) imports \(other), which is not there") }
        }
        while let ready = rest.first(where: { $0.value.isEmpty })?.key {
            rest[ready] = nil
            for name in rest.keys { rest[name]?.remove(ready) }
        }
        #expect(rest.isEmpty, "\(rest)")
    }
}
