// Tests of files: they are found by the names of module and file, never by a path of the process, and replaced in one step.

import Foundation
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksBake

@Suite(.blocking) struct SourceFileTests {
    private let directory: TemporaryDirectory
    private let text = "let t = Tweak(\"A\", \"B\", \"C\", 5)\n"

    init() throws { directory = try TemporaryDirectory() }

    /// The size from 5 to 6, declared in the first line of `App/Look.swift`.
    private func tweak(_ place: String = "App/Look.swift:1") throws -> TunedTweak {
        let json = "{\"path\":\"A/B/C\",\"kind\":\"int\",\"default\":5,\"value\":6,\"source\":\(Quoting.json(place))}"
        return try TunedTweak(try #require(JSON(json)))
    }

    private func write(_ names: String...) throws {
        for name in names {
            try directory.makeFolder(Folder.split(name).directory)
            try directory.write(text, to: name)
        }
    }

    /// The paths that change, without the directory, or the reasons why none does.
    private func result(_ sources: [String], _ place: String = "App/Look.swift:1") throws -> [String] {
        let bake = try Bake([try tweak(place)], in: sources)
        let texts = bake.files.map(\.path) + bake.problems.map { "\($0.place): \($0.reason)" }
        return texts.map { $0.replacingOccurrences(of: directory.path, with: "") }
    }

    @Test(arguments: [
        "Sources/App/Look.swift", "App/Look.swift", "Sources/App/Deep/Er/Look.swift", "x/App/y/Look.swift",
    ])
    func aFileIsInAFolderOfItsModule(_ name: String) throws {
        try write(name, "Sources/Other/Look.swift", "Sources/App/Other.swift", "Look.swift")
        #expect(try result([directory.path]) == ["/" + name])
        #expect(try result([directory.path, directory.file("Sources")]) == ["/" + name])
        #expect(try result([directory.file(name)]) == ["/" + name])
    }

    @Test func theRootMayBeInTheFolderOfTheModule() throws {
        try write("App/Sources/Look.swift")
        #expect(try result([directory.file("App/Sources")]) == ["/App/Sources/Look.swift"])
        #expect(try result([directory.file("App/Sources/")]) == ["/App/Sources/Look.swift"])
    }

    @Test(arguments: [EACCES, EPERM, ENOENT]) func whatIsClosedToTheUserHoldsNoSources(_ code: Int32) throws {
        let found = try SourceFiles.ifReachable { () throws(FileProblem) -> Int in
            throw FileProblem("x", "looking", .failed(FileError(code)))
        }
        #expect(found == nil)
    }

    @Test(arguments: [EMFILE, ENFILE, EIO, ENOMEM]) func anyOtherErrorEndsTheSearch(_ code: Int32) {
        let problem = FileProblem("x", "looking", .failed(FileError(code)))
        #expect(throws: problem) {
            try SourceFiles.ifReachable { () throws(FileProblem) -> Int in throw problem }
        }
    }

    @Test func theNameOfAModuleHasNoDashes() throws {
        try write("my-app/Look.swift")
        #expect(try result([directory.path], "my_app/Look.swift:1") == ["/my-app/Look.swift"])
    }

    @Test func aFileThatIsNamedNeedsNoFolder() throws {
        try write("Look.swift")
        #expect(try result([directory.file("Look.swift")]) == ["/Look.swift"])
        let reason =
            "is declared in a file that is not in these folders; name it, or a folder App with Look.swift in it"
        #expect(try result([directory.path]) == ["App/Look.swift:1: \(reason)"])
    }

    @Test func severalFilesAreListedAndNoneIsChosen() throws {
        try write("a/App/Look.swift", "b/App/Look.swift")
        let reason = "is declared in one of several files: /a/App/Look.swift, /b/App/Look.swift; name the right one"
        #expect(try result([directory.path]) == ["App/Look.swift:1: \(reason)"])
    }

    @Test func hiddenFoldersAndLinksAreSkipped() throws {
        try write(".build/App/Look.swift", "elsewhere/App/Look.swift", "root/.git/App/Look.swift", "root/a.txt")
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("root/link"), withDestinationPath: directory.file("elsewhere"))
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("root/App"), withDestinationPath: directory.file("elsewhere/App"))
        try directory.makeFolder("root/x/App")
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("root/x/App/Look.swift"),
            withDestinationPath: directory.file("elsewhere/App/Look.swift"))
        #expect(try result([directory.file("root")]).allSatisfy { $0.contains("not in these folders") })
        #expect(throws: FileProblem.self) { try Bake([try tweak()], in: [directory.file("root/x/App/Look.swift")]) }
    }

    @Test(arguments: [
        "../Look.swift:1", "App/../Look.swift:1", "/etc/Look.swift:1", "App/Look.swift", "App/Look.swift:0",
        "App/Look.swift:-1",
        "App/Look.swift:1x", "App/passwd:1", "App/.Look.swift:1", "/Look.swift:1", "App/Look\n.swift:1",
        "App/Look.swift:99999999999999999999", "",
    ])
    func anotherPlaceIsNone(_ text: String) throws {
        #expect(SourcePlace(text) == nil)
        #expect(throws: BakeRefusal("has no Swift file as its source; write the value by hand")) { try tweak(text) }
    }

    @Test(arguments: [0o600, 0o640, 0o755, 0o444]) func aFileIsReplacedWithItsMode(_ mode: Int) throws {
        try write("App/Look.swift")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.file("App/Look.swift"))
        let bake = try Bake([try tweak()], in: [directory.path])
        #expect(directory.read("App/Look.swift") == text)
        #expect(try bake.files[0].write())
        #expect(directory.read("App/Look.swift") == "let t = Tweak(\"A\", \"B\", \"C\", 6)\n")
        #expect(try directory.mode("App/Look.swift") == mode)
        #expect(directory.names("App") == ["Look.swift"])
    }

    @Test func aFileThatHasChangedMeanwhileStays() throws {
        try write("App/Look.swift")
        let bake = try Bake([try tweak()], in: [directory.path])
        try directory.write("// new\n" + text, to: "App/Look.swift")
        #expect(try !bake.files[0].write())
        #expect(directory.read("App/Look.swift") == "// new\n" + text)
    }

    @Test func aFileThatIsNoTextIsRefused() throws {
        try write("App/Look.swift")
        try Data([0xFF]).write(to: URL(fileURLWithPath: directory.file("App/Look.swift")))
        let reason = "/App/Look.swift:1: is in a file that is not UTF-8; write it by hand"
        #expect(try result([directory.path]) == [reason])
    }

    private static let limits = [
        (
            "\"kind\":\"int\",\"default\":5,\"value\":500,\"min\":0,\"max\":10",
            "has the value 500, which is outside 0...10"
        ),
        ("\"kind\":\"number\",\"default\":5,\"value\":-1,\"min\":0", "has the value -1, which is outside 0..."),
        (
            "\"kind\":\"duration\",\"default\":\"1s\",\"value\":\"9s\",\"max\":\"5s\"",
            "has the value 9s, which is outside ...5s"
        ),
        (
            "\"kind\":\"point\",\"default\":[0,0],\"value\":[1,9],\"min\":[0,0],\"max\":[5,5]",
            "has the value 1,9, which is outside"
        ),
        (
            "\"kind\":\"list\",\"of\":\"int\",\"default\":[5],\"value\":[5,50],\"max\":10",
            "has the value 50, which is outside"
        ),
        (
            "\"kind\":\"optional\",\"of\":\"int\",\"default\":null,\"value\":50,\"max\":10",
            "has the value 50, which is outside"
        ),
        (
            "\"kind\":\"choice\",\"default\":\"a\",\"value\":\"b\",\"choices\":[{\"name\":\"a\"}]",
            "has the value b, which is none of its choices"
        ),
        ("\"kind\":\"string\",\"default\":\"a\",\"value\":\"abc\",\"maxLength\":2", "has a value of the length 3"),
        (
            "\"kind\":\"list\",\"of\":\"int\",\"default\":[1],\"value\":[],\"minLength\":1",
            "has a value of the length 0"
        ),
    ]

    @Test(arguments: limits) func aDefaultOutsideOfItsLimitsIsRefused(_ fields: String, _ reason: String) throws {
        let bake = try Bake([try .made(fields)], in: [directory.path])
        #expect(bake.files.isEmpty && bake.problems.count == 1)
        #expect(bake.problems[0].reason.hasPrefix(reason), "\(bake.problems[0].reason)")
    }

    private static let unknown = [
        "{}", "[]", "{\"path\":\"A\",\"kind\":\"int\"}",
        "{\"path\":\"A/B/C\",\"kind\":\"matrix\",\"source\":\"App/Look.swift:1\"}",
        "{\"path\":\"A/B/C\",\"kind\":\"int\",\"value\":\"x\",\"default\":5,\"source\":\"App/Look.swift:1\"}",
        "{\"path\":\"A/B/C\",\"kind\":\"action\",\"value\":1,\"default\":5,\"source\":\"App/Look.swift:1\"}",
        "{\"path\":\"A/B/C\",\"kind\":\"list\",\"value\":[1],\"default\":[2],\"source\":\"App/Look.swift:1\"}",
        "{\"path\":\"A/B/C\",\"kind\":\"int\",\"value\":1,\"source\":\"App/Look.swift:1\"}",
    ]

    @Test func whatAPreviewShowsIsNotBaked() throws {
        let json = #"{"path":"A/B/C","kind":"int","default":5,"value":5,"settled":6,"source":"App/Look.swift:1"}"#
        #expect(try TunedTweak(try #require(JSON(json))).value == .int(6))
    }

    @Test(arguments: unknown) func anAnswerOfAnotherFormIsRefused(_ text: String) throws {
        let json = try #require(JSON(text))
        #expect(throws: BakeRefusal.self) { try TunedTweak(json) }
    }
}
