// Tests the page's files: embedded, announced in the markup, short, and without import cycles.

import Foundation
import Testing
import TweaksTestSupport

@testable import TweaksPanel

@Suite struct PageFilesTests {
    struct File: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String

        var testDescription: String { name }

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

        /// The names of the imported modules.
        var imports: [String] {
            text.matches(of: /(?:from|import) '(\.[^']+)'/).map { match in
                var parts = name.split(separator: "/").dropLast()
                for part in match.1.split(separator: "/") where part != "." {
                    if part == ".." { parts.removeLast() } else { parts.append(part) }
                }
                return parts.joined(separator: "/")
            }
        }
    }

    static let files = PanelFiles.all.filter { $0.name.hasPrefix("page/") }.map { file in
        File(name: String(file.name.dropFirst(5)), text: String(decoding: file.bytes, as: UTF8.self))
    }

    @Test func everyFileOfTheDirectoryIsEmbedded() throws {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Sources/TweaksPanelFiles/page")
        let path = root.standardizedFileURL.path
        let found = try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.contains(".") }
        #expect(found.sorted() == Self.files.map(\.name).sorted())
    }

    @Test func theMarkupNamesEveryModule() {
        let markup = String(decoding: PanelPage.plain.markup.body, as: UTF8.self)
        for file in Self.files where file.name.hasSuffix(".js") {
            #expect(markup.contains("href=\"panel/\(PanelPage.plain.version)/\(file.name)\""), "\(file.name)")
        }
        #expect(!markup.contains("<!-- modulepreload"))
    }

    /// Code that is loaded later may be of another program, which has the port by then.
    @Test(arguments: files) func noModuleIsLoadedLater(_ file: File) {
        #expect(!file.text.contains("import("))
    }

    @Test func oneStylesheetHasAllStyles() throws {
        let joined = try #require(PanelPage.plain.file("page.css", version: PanelPage.plain.version))
        let styles = Self.files.filter { $0.name.hasSuffix(".css") }.map(\.text)
        #expect(styles.count > 5 && String(decoding: joined.body, as: UTF8.self) == styles.joined())
        #expect(styles.last?.hasPrefix("/* Narrow windows") == true)
    }

    @Test(arguments: files) func everyFileIsShortAndBeginsWithASentence(_ file: File) {
        #expect(file.lines.count <= 300)
        for (number, line) in file.lines.enumerated() { #expect(line.count <= 110, "line \(number + 1)") }
        if file.name.hasSuffix(".js") { #expect(file.lines[0].wholeMatch(of: /\/\/ [A-Z].*\./) != nil) }
        if file.name.hasSuffix(".css") { #expect(file.lines[0].wholeMatch(of: /\/\* [A-Z].*\. \*\//) != nil) }
    }

    @Test func modulesHaveNoCycle() {
        var rest = Dictionary(uniqueKeysWithValues: Self.files.map { ($0.name, Set($0.imports)) })
        for (name, imports) in rest {
            for other in imports { #expect(rest[other] != nil, "\(name) imports \(other), which is not there") }
        }
        while let ready = rest.first(where: { $0.value.isEmpty })?.key {
            rest[ready] = nil
            for name in rest.keys { rest[name]?.remove(ready) }
        }
        #expect(rest.isEmpty, "\(rest)")
    }

    /// The guide has the keys that the page lists.
    @Test func theGuideListsTheKeys() throws {
        let list = try #require(Self.files.first { $0.name == "key-list.js" }).text
        let keys = list.matches(of: /\['(.+)', '(.+)'\]/).map { "| `\($0.1)` | \($0.2) |" }
        let guide = try Document("Sources/TweaksPanel/TweaksPanel.docc/TweaksPanel.md").text
        #expect(keys.count > 10)
        for key in keys { #expect(guide.contains(key), "\(key)") }
    }
}
