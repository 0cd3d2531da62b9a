// Tests that a token file is only read if no other user can have read or written it.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct TokenFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The token file after a script has run in its directory.
    private func content(after script: String) throws -> TokenFile {
        try Shell.run(script, in: directory.path)
        return TokenFile(path: directory.file("tokens"))
    }

    private func refusal(after script: String) throws -> String? {
        if case .refused(let reason) = try content(after: script) { reason } else { nil }
    }

    /// Root can also read a file without read permission.
    @Test(arguments: ["600", "400", "200", "700"]) func aPrivateFileIsRead(_ mode: String) throws {
        let content = try content(after: "echo hello > tokens; chmod \(mode) tokens")
        let isReadable = mode != "200" || geteuid() == 0
        #expect(content == (isReadable ? .bytes(Array("hello\n".utf8)) : .refused("Permission denied")))
    }

    @Test(arguments: ["644", "640", "620", "602", "601", "606", "604", "660", "777", "4644"])
    func aFileThatOthersCanAccessIsRefused(_ mode: String) throws {
        let reason = try #require(try refusal(after: "echo hello > tokens; chmod \(mode) tokens"))
        #expect(reason.hasSuffix("; chmod 600 \(directory.file("tokens"))"))
        #expect(reason.contains("mode \(mode.suffix(3))"))
    }

    @Test(arguments: ["true", "ln -s nothing other", "mkdir empty"])
    func aMissingFileIsMissing(_ script: String) throws {
        #expect(try content(after: script) == .missing)
        #expect(TokenFile(path: directory.file("nowhere/tokens")) == .missing)
    }

    @Test(arguments: ["(umask 077; echo > real); ln -s real tokens", "ln -s nothing tokens", "ln -s tokens tokens"])
    func linksAreNotFollowed(_ script: String) throws {
        #expect(try refusal(after: script) == "it is a symbolic link; name the file itself")
    }

    @Test(arguments: ["mkdir -m 700 tokens", "mkfifo -m 600 tokens"])
    func whatIsNotARegularFileIsRefused(_ script: String) throws {
        #expect(try refusal(after: script) == "it is not a regular file; name one")
        #expect(TokenFile(path: "/dev/null") == .refused("it is not a regular file; name one"))
    }

    /// Only in a sticky directory other users cannot replace the file.
    @Test(arguments: [("777", false), ("770", false), ("1777", true), ("755", true)])
    func theDirectoryMustNotBeWritableByOthers(_ mode: String, _ isTaken: Bool) throws {
        try Shell.run("mkdir in; (umask 077; echo hello > in/tokens); chmod \(mode) in", in: directory.path)
        let content = TokenFile(path: directory.file("in/tokens"))
        let reason = "\(directory.file("in")) can be written by others; chmod go-w it"
        #expect(content == (isTaken ? .bytes(Array("hello\n".utf8)) : .refused(reason)))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func aFileOrDirectoryOfAnotherUserIsRefused() throws {
        let reason = try refusal(after: "echo hello > tokens; chmod 600 tokens; chown 65534 tokens")
        #expect(reason == "it belongs to uid 65534; chown it to 0")
        try Shell.run("chown 0 tokens; chown 65534 .", in: directory.path)
        let refusal = "\(directory.path) belongs to uid 65534; keep tokens in a directory of your own"
        #expect(TokenFile(path: directory.file("tokens")) == .refused(refusal))
    }

    @Test func aLargeFileIsRefused() throws {
        let size = TokenText.sizeLimit
        let script = "head -c \(size) /dev/zero > tokens; chmod 600 tokens"
        #expect(try content(after: script) == .bytes(Array(repeating: 0, count: size)))
        #expect(try refusal(after: "echo >> tokens") == "it is larger than \(size) bytes, as no token file is")
    }

    @Test func relativePathsAreAccepted() {
        #expect(TokenFile(path: "no-such-token-file") == .missing)
        #expect(TokenFile(path: "") == .missing)
    }
}
