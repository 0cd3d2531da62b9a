// Tests of the manual page and of shell completion.

import Foundation
import Testing
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct HelpTests {
    private let fixture: TweakctlFixture

    init() throws { fixture = try TweakctlFixture() }

    /// The path of a program, if it is installed.
    private static func path(of name: String) -> String? {
        ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    @Test func theManualNamesEveryCommandOptionAndKey() throws {
        let page = try fixture.run("man").output
        for command in Command.all { #expect(page.contains("\n.B " + Manual.escaped(command.synopsis) + "\n")) }
        for option in Invocation.options { #expect(page.contains(Manual.escaped(option.synopsis))) }
        for binding in KeyTable.sections.flatMap(\.bindings) {
            #expect(page.contains("\n.B \(Manual.escaped(binding.shown))\n\(Manual.escaped(binding.summary))."))
        }
        // No text becomes a request of roff.
        let requests = Set(page.split(separator: "\n").filter { $0.hasPrefix(".") }.map { $0.prefix { $0 != " " } })
        #expect(requests == [".\\\"", ".TH", ".SH", ".SS", ".B", ".br", ".PP", ".TP"])
    }

    @Test(arguments: Verb.allCases.filter { $0.summary != nil })
    func theManualSaysWhichCommandsWinOverAProcessOfTheirName(_ verb: Verb) throws {
        let server = try fixture.server(verb.rawValue)
        let reply = try fixture.run(verb.rawValue, "get", "Content/Text/Size").output
        let list = try #require(Manual.page.split(separator: "of the same name, except ").last?.prefix { $0 != ";" })
        let isListed = list.split(separator: ", ").contains { $0 == verb.rawValue }
        #expect(isListed == !reply.hasPrefix("Content/Text/Size = 60 "), "\(reply)")
        withExtendedLifetime(server) {}
    }

    @Test(.enabled(if: path(of: "groff") != nil)) func groffReadsTheManual() throws {
        let file = fixture.directory.file("tweakctl.1")
        try fixture.run("man").output.write(toFile: file, atomically: true, encoding: .utf8)
        let text = try fixture.shell("groff -man -Tutf8 -P-cbou -ww '\(file)' 2>&1")
        #expect(!text.contains("warning") && !text.contains("error:"), "\(text)")
        #expect(text.contains("set PATH VALUE") && text.contains("get 'Label/*'") && text.contains("~/.local/state"))
    }

    @Test(arguments: [
        ("a-b", "a\\-b"), (".x", "\\&.x"), ("'x'", "\\(aqx\\(aq"), ("a\\b", "a\\eb"), ("é…", "\\[u00E9]..."),
    ])
    func textIsEscapedForRoff(_ text: String, _ escaped: String) { #expect(Manual.escaped(text) == escaped) }

    @Test(arguments: Shell.allCases) func theCompletionScriptIsValid(_ shell: Shell) throws {
        let script = try fixture.run("completions", shell.rawValue).output
        #expect(script.contains("tweakctl __complete"))
        guard let path = Self.path(of: shell.rawValue) else { return }
        #expect(try Tool.sh.run(["-c", "'\(path)' -n 2>&1 && echo fine"], input: script) == "fine\n")
    }

    @Test func candidatesAreNamesCommandsOptionsPathsAndValues() throws {
        let server = try fixture.server("bounce")
        func candidates(_ words: String...) throws -> [String] {
            try fixture.run(["__complete", "--timeout", "5m"] + words).output.splitLines().dropLast()
        }
        #expect(try candidates("bou") == ["bounce"])
        #expect(try candidates("bounce", "expo") == ["export"])
        #expect(try candidates("bounce", "get", "Content/Text/F") == ["Content/Text/Fade", "Content/Text/Font Name"])
        #expect(try candidates("get", "Pl") == ["Player/"])
        #expect(try candidates("bounce", "set", "Content/Text/Alignment", "c") == ["center"])
        #expect(try candidates("--js") == ["--json"])
        #expect(try candidates("bounce", "impo") == ["import"])
        let (home, run) = (fixture.directory.file("home"), fixture.directory.file("run"))
        #expect(try candidates("bounce", "import", String(home.dropLast())) == [home + "/"])
        #expect(try candidates("import", run + "/") == [run + "/tweaks/"])
        #expect(try candidates("bounce", "import", "look.conf", "--d") == ["--dry-run"])
        #expect(try candidates("bounce", "wait", "Content/Text/Size", "") == ["=", "!="])
        #expect(try candidates("completions", "") == ["bash", "zsh", "fish"])
        #expect(try candidates("nobody", "get", "").isEmpty)
        server.stop()
        #expect(try candidates("bounce", "get", "").isEmpty)
        #expect(try candidates("bounce", "res") == ["restore"])
        #expect(try candidates("bounce", "restore", "--f") == ["--from"])
    }

    @Test func candidatesAreWaitedForASecondUnlessTheWordsHaveATimeout() {
        #expect(ShellCompletion.invocation(["bounce", "get"])?.timeout == .milliseconds(1_000))
        #expect(ShellCompletion.invocation(["--timeout", "5m", "bounce", "get"])?.timeout == .milliseconds(300_000))
        #expect(ShellCompletion.invocation(["--timeout", "10s", "bounce"])?.timeout == .milliseconds(10_000))
        #expect(ShellCompletion.invocation(["--timeout", "off", "bounce"])?.timeout == .off)
    }

    /// Tab in the shell itself, on a terminal.
    @Test(arguments: Shell.allCases) func aShellCompletes(_ shell: Shell) throws {
        guard let path = Self.path(of: shell.rawValue) else { try Test.cancel("\(shell.rawValue) is not installed") }
        try fixture.server("bounce")
        let settings = fixture.environment.map { "export \($0.key)='\($0.value)'" }.joined(separator: "; ")
        let folder = TweakctlFixture.executable.deletingLastPathComponent().path
        let terminal = try PseudoTerminal(
            .sh,
            [
                "-c",
                "\(settings); export TERM=xterm PATH='\(folder)':$PATH; stty cols 200; exec '\(path)' \(shell.options) -i",
            ])
        // The echo of this line does not contain what it prints.
        try terminal.type(shell.setup + "; echo is' 'ready\r", through: "is ready")
        try terminal.type("tweakctl --timeout 5m bounce get Content/Text/Fo\t", through: "Name")
        // Without the quotes of the shell this would be two words, and neither has a value.
        try terminal.type("\r", through: "Avenir Next")
        try terminal.type("exit\r")
    }

    @Test(.enabled(if: path(of: "bash") != nil)) func bashCompletes() throws {
        try fixture.server("bounce")
        let byTCP = try TestServer(hasThread: true)
        let port = try #require(byTCP.server.port)
        let settings = fixture.environment.map { "export \($0.key)='\($0.value)'" }.joined(separator: "; ")
        let script = """
            \(settings); PATH='\(TweakctlFixture.executable.deletingLastPathComponent().path)':$PATH
            source <(tweakctl completions bash)
            COMP_WORDS=(tweakctl --timeout 5m bounce get Content/Text/Fo); COMP_CWORD=5; _tweakctl; printf '<%s>' "${COMPREPLY[@]}"
            COMP_WORDS=(tweakctl --timeout 5m -H 127.0.0.1 : \(port) get Content/Text/Fo); COMP_CWORD=8; _tweakctl
            printf '<%s>' "${COMPREPLY[@]}"
            tweakctl() { printf '%s\\n' "$@"; }
            COMP_WORDS=(tweakctl -H '[' :: '1]' : 7777 get ''); COMP_CWORD=8; _tweakctl
            printf '<%s>' "${COMPREPLY[@]}"
            """
        let file = fixture.directory.file("try.bash")
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let candidate = "<Content/Text/Font\\ Name>"
        // Bash splits addresses at their colons.
        #expect(
            try fixture.shell("bash '\(file)' 2>&1")
                == candidate + candidate + "<__complete><-H><\\[::1\\]:7777><get><''>")
    }
}

extension Shell {
    /// The options that leave the user's settings out.
    fileprivate var options: String {
        switch self {
        case .bash: "--norc --noprofile"
        case .zsh: "-f"
        case .fish: "--no-config"
        }
    }

    /// The line that installs the completions, as the script's comment says.
    fileprivate var setup: String {
        switch self {
        case .bash: "source <(tweakctl completions bash)"
        case .zsh: "autoload -U compinit; compinit -u -D; source <(tweakctl completions zsh)"
        case .fish: "tweakctl completions fish | source"
        }
    }
}
