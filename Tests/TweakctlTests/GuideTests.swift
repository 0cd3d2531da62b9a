// Tests that the shell commands of the guides print what the guides show.

import Foundation
import Testing
import TweaksTestSupport

extension DocumentedBlock {
    /// The documents with shell commands that use tweakctl.
    static let guides = [
        "Sources/TweaksDaemon/TweaksDaemon.docc/AnAfternoonWithADesigner.md",
        "Sources/TweaksDaemon/TweaksDaemon.docc/AnEveningWithTweakctl.md",
        "Sources/TweaksDaemon/TweaksDaemon.docc/CommittingTunedValues.md",
        "Sources/TweaksDaemon/TweaksDaemon.docc/OperatingThrottled.md",
        "Sources/TweaksDaemon/TweaksDaemon.docc/RunningInProduction.md",
        "Sources/TweaksDaemon/TweaksDaemon.docc/SecurityModel.md",
        "Sources/TweaksDaemon/TweaksDaemon.docc/OnAPhone.md",
    ]
}

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.hasTerminal)) struct GuideTests {
    /// The blocks of a document run in order in one shell.
    @Test(
        .enabled(if: Tool.nc.exists && Tool.curl.exists && Tool.bash.exists, "install netcat-openbsd, curl and bash"),
        arguments: DocumentedBlock.guides)
    func theTranscriptsOfAGuideAreTrue(_ document: String) throws {
        let shell = try GuideShell()
        let blocks = DocumentedBlock.all("shell-transcript", of: document)
        #expect(!blocks.isEmpty)
        for block in blocks { try shell.replay(block) }
    }

    @Test func theTestsNamedInTheSecurityModelExist() throws {
        let tests = try Document.files("Tests", ".swift").reduce(into: Data()) { $0 += try Document($1).text.utf8 }
        // Foundation searches texts as UTF-16, which is slow for all tests.
        func has(_ text: String) -> Bool { tests.range(of: Data(text.utf8)) != nil }
        let model = try Document("Sources/TweaksDaemon/TweaksDaemon.docc/SecurityModel.md").text
        var count = 0
        for row in model.splitLines() where row.hasPrefix("| ") && row.contains("Tests") {
            for name in (row.split(separator: "|").last ?? "").matches(of: /`(\w+Tests)?\.?(\w+)?`/) {
                if let suite = name.output.1 { #expect(has("struct \(suite) "), "\(suite) of: \(row)") }
                if let test = name.output.2, test != "TweaksBenchmarks" {
                    #expect(has("func \(test)("), "\(test) of: \(row)")
                }
                count += 1
            }
        }
        #expect(count > 40)
    }

    /// By this suite, or by those of the daemon, the wire and the panel.
    @Test func everyShellCommandOfTheGuidesIsTested() throws {
        for document in Document.files("Sources", ".md") + ["README.md"] {
            var fence: String?
            for (number, line) in try Document(document).text.splitLines().enumerated() {
                if line.hasPrefix("```") { fence = fence == nil ? String(line.dropFirst(3)) : nil }
                guard line.drop(while: { $0 == " " }).hasPrefix("$ ") else { continue }
                #expect(fence?.hasSuffix("transcript") == true, "\(document):\(number + 1) is run by no test: \(line)")
            }
        }
    }
}

/// A shell on a terminal. `bounce` runs, `swift run` restarts it, `ssh` executes commands on this machine, and `iproxy`
/// does nothing: no phone is connected, and ports are those of `bounce` here.
private final class GuideShell {
    private let fixture: TweakctlFixture
    private let terminal: PseudoTerminal
    /// For commands while another one runs on the first terminal.
    private let other: PseudoTerminal
    private var token = ""
    private var root: String { fixture.directory.path }

    init() throws {
        fixture = try TweakctlFixture()
        let root = fixture.directory.path
        try FileManager.default.createDirectory(atPath: "\(root)/bin", withIntermediateDirectories: false)
        let socket = fixture.socket("bounce")
        let products = TweakctlFixture.executable.deletingLastPathComponent().path
        let scripts = [
            "ssh": """
            while [ $# -gt 0 ]; do case $1 in
                -L) case $2 in /*) ln -sf "${2#*:}" "${2%%:*}";; esac; shift 2;;
                -N) shift;;
                *) shift; exec sh -c "$*";;
            esac; done
            """,
            "iproxy": ":",
            "swift": """
            end() { kill $(cat \(root)/pid) && rm \(root)/pid && until [ ! -e \(socket) ]; do sleep 0.05; done; }
            [ ! -e \(root)/pid ] || end
            [ "$1" = run ] || exit
            # If the program inherited the descriptors of the tests, they would wait for it at the end of this shell.
            for file in /proc/$$/fd/*; do [ ${file##*/} -le 2 ] || eval "exec ${file##*/}>&-"; done
            rm -f \(root)/log; TWEAKS_PORT=0 TWEAKS_PANEL_PORT=0 \(products)/bounce --headless >/dev/null 2>\(root)/log </dev/null &
            echo $! >\(root)/pid
            until grep -q panel \(root)/log || ! kill -0 $!; do sleep 0.05; done
            """,
        ]
        for (name, text) in scripts {
            try Data("#!/bin/bash\n\(text)\n".utf8).write(to: URL(fileURLWithPath: "\(root)/bin/\(name)"))
            chmod("\(root)/bin/\(name)", 0o755)
        }
        try FileManager.default.createSymbolicLink(
            atPath: "\(root)/bin/tweakctl", withDestinationPath: TweakctlFixture.executable.path)
        var environment = fixture.environment.filter { $0.key != "PATH" }.map { "\($0.key)=\($0.value)" }
        environment += ["PATH=\(root)/bin:/usr/bin:/bin", "NO_COLOR=1", "PS1=", "PS2="]
        environment.append("TWEAKS_TOKEN_FILE=\(root)/etc/bounce/tokens")
        let shell = "stty -echo; exec env \(environment.joined(separator: " ")) sh"
        (terminal, other) = (try PseudoTerminal(.sh, ["-c", shell]), try PseudoTerminal(.sh, ["-c", shell]))
        try run("swift run bounce")
    }

    deinit {
        let text = try? String(contentsOfFile: "\(root)/pid", encoding: .utf8)
        if let process = text.flatMap({ Int32($0.prefix { $0.isNumber }) }) { kill(process, SIGTERM) }
    }

    func replay(_ block: DocumentedBlock) throws {
        var steps: [(command: String, lines: [String])] = []
        for line in block.text.splitLines() {
            if line.hasPrefix("$ ") {
                steps.append((String(line.dropFirst(2)), []))
            } else if steps.last?.command.hasSuffix("\\") == true {
                steps[steps.count - 1].command = steps[steps.count - 1].command.dropLast() + line
            } else if !line.isEmpty, !steps.isEmpty {
                steps[steps.count - 1].lines.append(line)
            }
        }
        for step in steps {
            // Steps of the guide that are not shell commands.
            if step.command.contains(" watch "), let line = step.lines.first { try set(line) }
            if step.command.contains(" login"), token.isEmpty {
                try perform("tweakctl token new guest --scopes read write", [], block)
            }
            try perform(step.command, step.lines, block)
            if step.command.hasPrefix("tweakctl token revoke") { token = "" }
        }
    }

    private func perform(_ command: String, _ lines: [String], _ block: DocumentedBlock) throws {
        let (tokens, logged) = (tokenFile, log.count)
        let output = try run(placed(command), expecting: lines)
        var rest = output.splitLines()[...]
        for line in lines {
            let found = rest.firstIndex { Transcript.fits(Self.plain(shown($0)), Self.plain(line)) }
            #expect(found != nil, "\(block.testDescription): \(command)\nnot printed: \(line)\n\(output)")
            if let found { rest = rest[(found + 1)...] }
        }
        // The program logs that it has read the file; a session that ends meanwhile is another line.
        if tokenFile != tokens {
            try eventually { log.dropFirst(logged).contains(#/: \d+ tokens?\n/#) }
        }
    }

    /// Types a command, which must succeed, and returns its output. Ends a program that does not end by itself.
    @discardableResult
    private func run(_ command: String, expecting lines: [String] = []) throws -> String {
        let typed = command.hasSuffix("&") ? String(command.dropLast()) : command
        // The shell reads all of this before the command begins: what is typed later is for the command.
        try terminal.type("{ \(typed)\n}; code=$?; echo; echo \"=\"\"= $code\"\n")
        var output = ""
        if command.contains(" login") {
            output += try terminal.read(through: "Token for ")
            output += try terminal.read(through: ": ") + "\n"
            try terminal.type(token + "\n")
        } else if command.hasPrefix("nc ") {
            try terminal.type("ping\n")
            output += try terminal.read(through: "ok pong")
            try terminal.type("quit\n")
        } else if command.contains(" watch ") {
            for line in lines { output += try cause(line) }
            try terminal.type("\u{3}")
        } else if command == "tweakctl bounce" {
            output += try terminal.read(through: "live")
            try terminal.type("q")
        }
        output += try terminal.read(through: "== ")
        let code = try terminal.read(through: "\n")
        let mayFail = command.hasPrefix("nc ") || command.contains("curl -sN") || command.contains(" watch ")
        #expect(code == "0\n" || mayFail, "\(command): \(output)")
        if let found = output.firstRange(of: "twk_") {
            token = String(output[found.lowerBound...].prefix { !$0.isWhitespace })
        }
        return output
    }

    /// Causes the event for which a watch prints a line, and reads the line.
    private func cause(_ line: String) throws -> String {
        switch line {
        case "# disconnected, retrying": try other.type("swift end\n")
        case "# bounce restarted": try other.type("swift run bounce\n")
        case let line where line.hasPrefix("rev "): try set(line)
        default: break
        }
        let wanted = line.hasPrefix("rev ") ? "  # was" : line.hasPrefix("#") ? line : "# number"
        let output = try terminal.read(through: wanted)
        return try output + terminal.read(through: "\n")
    }

    /// Sets a tweak to the value in a line.
    private func set(_ line: String) throws {
        guard let found = line.firstMatch(of: /(\S+\/\S+) = (\S+)/) else { return }
        let result = try fixture.run("bounce", String(found.1), "=", String(found.2))
        #expect(result.code == 0, "\(result.errors)")
    }

    private var log: String { (try? String(contentsOfFile: "\(root)/log", encoding: .utf8)) ?? "" }

    private var tokenFile: Data? { FileManager.default.contents(atPath: "\(root)/etc/bounce/tokens") }

    /// A port of the running program, after a pattern in its log.
    private func port(_ pattern: String) -> String {
        let found = try? Regex("\(pattern)([0-9]+)").firstMatch(in: log)
        return found?.output[1].substring.map { String($0) } ?? ""
    }

    /// A command with the paths and ports of this test.
    private func placed(_ command: String) -> String {
        command.replacing("/tmp/", with: "\(root)/").replacing("/run/user/1000", with: "\(root)/run")
            .replacing(/([ =])\/etc\//) { "\($0.output.1)\(self.root)/etc/" }
            // The app of the guide gets its token file from its resources; here it is that of `bounce`.
            .replacing("Resources/bounce.tokens", with: "\(root)/etc/bounce/tokens")
            // The user of the guide does not exist on this machine.
            .replacing("--for-user throttled", with: "--for-user $(id -un)")
            .replacing("127.0.0.1:7780", with: "127.0.0.1:\(port("panel http://127.0.0.1:"))")
            .replacing(/127\.0\.0\.1:7[07]\d\d/) { _ in "127.0.0.1:\(self.port("tweaks at [^;]*127.0.0.1:"))" }
    }

    /// A line with the paths and ports of the documents.
    private func shown(_ line: String) -> String {
        line.replacing(root, with: "").replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:N")
    }

    /// A line without process IDs, ports, digests and widths, which differ between runs.
    private static func plain(_ line: String) -> String {
        line.replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:N").replacing(/\b[0-9a-f]{8}\b/, with: "DIGEST")
            .replacing(/\b\d{3,7}\b/, with: "N").replacing(/\b(uid|rev) \w+/, with: "N").replacing(/\ +/, with: " ")
            .replacing(/\ $/, with: "")
    }
}
