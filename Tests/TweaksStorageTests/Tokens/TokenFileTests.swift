// Which files are taken for a token file: nobody else can have written or read them.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct TokenFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// What is there after a script has run where the file is.
    private func content(after script: String) throws -> TokenFile {
        try Shell.run(script, in: directory.path)
        return TokenFile(path: directory.file("tokens"))
    }

    private func refusal(after script: String) throws -> String? {
        if case .refused(let reason) = try content(after: script) { reason } else { nil }
    }

    @Test(arguments: ["600", "400", "200", "700"])
    func one(_ mode: String) throws {
        let content = try content(after: "echo hello > tokens; chmod \(mode) tokens")
        // Who may not read a file of his own is told so by the system; root reads all the same.
        if mode == "200", geteuid() != 0 { return #expect(content == .refused("Permission denied")) }
        #expect(content == .bytes(Array("hello\n".utf8)))
    }

    @Test(arguments: ["644", "640", "620", "602", "601", "606", "604", "660", "777", "4644"])
    func othersMay(_ mode: String) throws {
        let reason = try #require(try refusal(after: "echo hello > tokens; chmod \(mode) tokens"))
        #expect(reason.hasSuffix("; chmod 600 \(directory.file("tokens"))"))
        #expect(reason.contains("mode \(mode.suffix(3))"))
    }

    @Test(arguments: ["", "ln -s nothing other", "mkdir empty"]) func none(_ script: String) throws {
        #expect(try content(after: script.isEmpty ? "true" : script) == .missing)
        #expect(TokenFile(path: directory.file("nowhere/tokens")) == .missing)
    }

    @Test func neverThroughALink() throws {
        let reason = try refusal(after: "echo hello > real; chmod 600 real; ln -s real tokens")
        #expect(reason == "it is a symbolic link; name the file itself")
        #expect(try refusal(after: "rm tokens; ln -s nothing tokens") == reason)
        #expect(try refusal(after: "rm tokens; ln -s tokens tokens") == reason)
    }

    @Test(arguments: ["mkdir -m 700 tokens", "mkfifo -m 600 tokens"])
    func noFile(_ script: String) throws {
        #expect(try refusal(after: script) == "it is no regular file; name one")
    }

    @Test func aDevice() { #expect(TokenFile(path: "/dev/null") == .refused("it is no regular file; name one")) }

    /// Who may write the directory may put a file in its place; in a sticky one, not in that of another.
    @Test(arguments: [("777", false), ("770", false), ("1777", true), ("755", true)])
    func aDirectoryOfOthers(_ mode: String, _ isTaken: Bool) throws {
        let script = "mkdir in; (umask 077; echo hello > in/tokens); chmod \(mode) in"
        try Shell.run(script, in: directory.path)
        let content = TokenFile(path: directory.file("in/tokens"))
        let reason = "\(directory.file("in")) can be written by others; chmod go-w it"
        #expect(content == (isTaken ? .bytes(Array("hello\n".utf8)) : .refused(reason)))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func anothers() throws {
        let reason = try refusal(after: "echo hello > tokens; chmod 600 tokens; chown 65534 tokens")
        #expect(reason == "it belongs to uid 65534; chown it to 0")
        try Shell.run("chown 0 tokens; chown 65534 .", in: directory.path)
        #expect(
            TokenFile(path: directory.file("tokens"))
                == .refused("\(directory.path) belongs to uid 65534; keep tokens in a directory of your own"))
    }

    @Test func tooLarge() throws {
        let size = TokenText.sizeLimit
        let script = "head -c \(size) /dev/zero > tokens; chmod 600 tokens"
        #expect(try content(after: script) == .bytes(Array(repeating: 0, count: size)))
        #expect(try refusal(after: "echo >> tokens") == "it is larger than \(size) bytes, as no token file is")
    }

    @Test func relative() {
        #expect(TokenFile(path: "no-such-token-file") == .missing)
        #expect(TokenFile(path: "") == .missing)
    }
}
