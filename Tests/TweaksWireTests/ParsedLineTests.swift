// Requests: every command, assignments, and what is no request, with the error that says so.

import Testing
import Tweaks
import TweaksWire

/// What a line is.
func parsed(_ line: String) -> ParsedLine { Array(line.utf8).withUnsafeBufferPointer { ParsedLine($0) } }

@Suite struct ParsedLineTests {
    @Test(
        arguments: [
            ("help", .help(command: nil)), ("help set", .help(command: "set")), ("ls", .list(prefix: nil)),
            ("ls A/B", .list(prefix: "A/B")), ("get A", .get(["A"])), ("get A B/C *", .get(["A", "B/C", "*"])),
            (#"get "A/B/C D""#, .get(["A/B/C D"])), ("set A/B/C 5", .set(path: "A/B/C", .assign("5"))),
            ("set A/B/C 5 for 10s", .setFor(path: "A/B/C", .assign("5"), lifetime: "10s")),
            ("set A/B/C toggle for \"1h\"", .setFor(path: "A/B/C", .toggle, lifetime: "1h")),
            ("set A/B/C for for for", .setFor(path: "A/B/C", .assign("for"), lifetime: "for")),
            ("keep A A/B/C", .keep(["A", "A/B/C"])),
            (#"set A/B/C """#, .set(path: "A/B/C", .assign(""))),
            ("check A/B/C 5", .check(path: "A/B/C", .assign("5"))),
            ("check A/B/C toggle", .check(path: "A/B/C", .toggle)), ("reset A", .reset(["A"])),
            ("reset A B", .reset(["A", "B"])),
            ("find size", .find(["size"])), ("find a b", .find(["a", "b"])), ("modified", .modified(nil)),
            ("modified A", .modified("A")), ("describe A/B/C", .describe("A/B/C")),
            ("explain A/B/C", .explain("A/B/C")),
            ("watch A", .watch(["A"], since: nil)), ("watch A B", .watch(["A", "B"], since: nil)),
            ("watch A since 43", .watch(["A"], since: 43)), ("watch A B since 0", .watch(["A", "B"], since: 0)),
            ("watch modified", .watch([], modified: true, since: nil)),
            ("watch A modified since 4", .watch(["A"], modified: true, since: 4)),
            ("unwatch modified", .unwatch(nil, modified: true)), ("unwatch 'modified'", .unwatch("modified")),
            ("unwatch", .unwatch(nil)), ("unwatch A", .unwatch("A")), ("run A/B/C", .run(path: "A/B/C", arguments: [])),
            ("run A/B/C x 'y z'", .run(path: "A/B/C", arguments: ["x", "y z"])), ("begin", .begin(revision: nil)),
            ("begin 43", .begin(revision: 43)), ("commit", .commit), ("abort", .abort), ("export", .export(nil)),
            ("export A", .export("A")), ("conflicts", .conflicts), ("complete", .complete("")),
            ("complete se", .complete("se")),
            ("complete 'set A'", .complete("set A")), ("stats", .stats), ("hello 1", .hello(version: 1, json: false)),
            ("hello 2 json", .hello(version: 2, json: true)), ("json", .json(true)), ("json on", .json(true)),
            ("json off", .json(false)), ("prompt", .prompt(true)), ("prompt off", .prompt(false)), ("ping", .ping),
            ("save warm", .save(name: "warm", pattern: nil)),
            ("save warm 'Content/*'", .save(name: "warm", pattern: "Content/*")),
            ("load warm", .load(name: "warm", only: false, partly: false)),
            ("load --only warm", .load(name: "warm", only: true, partly: false)),
            ("load warm --only", .load(name: "warm", only: true, partly: false)),
            ("load warm partly", .load(name: "warm", only: false, partly: true)),
            ("load --only warm partly", .load(name: "warm", only: true, partly: true)),
            ("load warm partly --only", .load(name: "warm", only: true, partly: true)),
            ("load partly", .load(name: "partly", only: false, partly: false)),
            ("load partly partly", .load(name: "partly", only: false, partly: true)),
            ("load '--only'", .load(name: "--only", only: false, partly: false)),
            ("load --only \"--only\"", .load(name: "--only", only: true, partly: false)),
            ("presets", .presets), ("delete warm", .delete(name: "warm")), ("diff warm", .diff("warm", nil)),
            ("diff warm cold", .diff("warm", "cold")), ("swap warm", .swap(name: "warm", force: false)),
            ("swap warm force", .swap(name: "warm", force: true)), ("swap force", .swap(name: "force", force: false)),
            ("quit", .quit), ("  ping\t# why", .ping),
        ] as [(String, Request)])
    func commands(_ line: String, _ request: Request) {
        #expect(parsed(line) == .request(request))
    }

    @Test(
        arguments: [
            ("A/B/C = 5", "A/B/C", .assign("5")), ("A/B/C += 5", "A/B/C", .add("5")),
            ("A/B/C -= 5", "A/B/C", .subtract("5")),
            (#""A/B/C D" = "x y""#, "A/B/C D", .assign("x y")), ("A/B/C = '='", "A/B/C", .assign("=")),
            ("A/B/C = =", "A/B/C", .assign("=")), (#"A/B/C = """#, "A/B/C", .assign("")),
            ("A/B/C = #FF0000 # red", "A/B/C", .assign("#FF0000")), ("A/B/C = toggle", "A/B/C", .assign("toggle")),
            // In quotes it is a path, whatever it is called; a path need not look like one to be looked up.
            (#""get" = 5"#, "get", .assign("5")), ("'ok' = 5", "ok", .assign("5")),
            ("nonsense = 5", "nonsense", .assign("5")),
            ("GET = 5", "GET", .assign("5")),
        ] as [(String, String, Request.Change)])
    func assignments(_ line: String, _ path: String, _ change: Request.Change) {
        #expect(parsed(line) == .request(.set(path: path, change)))
    }

    @Test(
        arguments: [
            ("set A/B/C toggle", .set(path: "A/B/C", .toggle)),
            (#"set A/B/C "toggle""#, .set(path: "A/B/C", .assign("toggle"))),
            ("set A/B/C '='", .set(path: "A/B/C", .assign("="))),
            (#"watch "modified""#, .watch(["modified"], since: nil)),
            (#"watch A "since" 4"#, .watch(["A", "since", "4"], since: nil)),
            ("set A/B/C for", .set(path: "A/B/C", .assign("for"))),
            // A command keeps its meaning whatever follows it.
            ("set = 5", .set(path: "=", .assign("5"))), ("get = 5", .get(["=", "5"])),
        ] as [(String, Request)])
    func keywordsOnlyBareAndInTheirPlace(_ line: String, _ request: Request) {
        #expect(parsed(line) == .request(request))
    }

    @Test(arguments: ["", " ", "\t \t"]) func blank(_ line: String) { #expect(parsed(line) == .blank) }

    @Test(arguments: ["#", "# set A/B/C 5", "  #x", "ok", "ok rev 43", "ok = 5", "  ok # x", "# HTTP/1.1"])
    func ignored(_ line: String) { #expect(parsed(line) == .ignored) }

    // MARK: Errors

    private func error(_ line: String) throws -> (code: TweakError.Code, message: String, ParsedLine.Severity) {
        switch parsed(line) {
        case .failure(let error, let severity): return (error.code, error.message, severity)
        case .nearly(let correction):
            let error = correction.error(showsValue: true)
            return (error.code, error.message, correction.severity)
        default: throw Unexpected(what: parsed(line))
        }
    }

    private struct Unexpected: Error { let what: ParsedLine }

    @Test(arguments: [
        "ls a b", "get", "set", "set A/B/C", "set A/B/C x y", "set A/B/C 5 for", "set A/B/C 5 to 10s",
        "set A/B/C 5 \"for\" 10s", "set A/B/C 5 for 10s x", "keep", "check", "check A/B/C",
        "check A/B/C x y", "reset", "find", "modified a b", "describe", "describe a b", "explain", "explain a b",
        "watch",
        "watch since 4", "watch since", "watch A since", "watch A since x", "watch A since -1", "watch A since +1",
        "unwatch a b", "run", "begin x", "begin -1",
        "begin 1 2",
        "save", "save a b c", "load", "load --only", "load a b", "load a partly partly", "load --only a --only",
        "load partly a", "load a 'partly'", "load a \"--only\"", "presets a", "delete", "delete a b", "diff",
        "diff a b c", "swap", "swap a b", "swap a force force",
        "commit now", "abort now", "export a b", "conflicts a", "stats a", "hello", "hello x", "hello 0", "hello -1",
        "hello 1 xml", "hello 1 json x", "json maybe", "json on on", "prompt 1", "ping ping", "quit now", "help a b",
        "A/B/C =", "A/B/C = x y", "A/B/C += ", "A/B/C -= 1 2", "A/B/C", "A/B/C=1", "A/B/C= 1", "A/B/C =1", "\"get\"",
        "'A/B/C'", "\"get\" A", "A/B/C 5", "A/B/C \"=\" 5", "nonsense =",
    ])
    func usage(_ line: String) throws {
        let (code, message, severity) = try error(line)
        #expect(code == .usage)
        let isChange = ["set", "keep", "reset", "A/B/C", "\"", "'", "nonsense"].contains { line.hasPrefix($0) }
        #expect(severity == (isChange ? .badChange : .ordinary), "\(message)")
    }

    @Test(arguments: [
        ("set A/B/C", "set: write set PATH VALUE [for DURATION], as in: set Content/Text/Size 72"),
        ("commit now", "commit: write commit, as in: commit"),
    ])
    func usageNamesTheRemedy(_ line: String, _ remedy: String) throws {
        #expect(try error(line).message.contains(remedy))
    }

    /// (line, the line that was meant, the same where the value may be a secret)
    @Test(arguments: [
        ("A/B/C=1", "A/B/C = 1 (put spaces around =)", "A/B/C = VALUE (put spaces around =)"),
        ("A/B/C= 1", "A/B/C = 1 (put spaces around =)", "A/B/C = VALUE (put spaces around =)"),
        ("A/B/C =1", "A/B/C = 1 (put spaces around =)", "A/B/C = VALUE (put spaces around =)"),
        ("A/B/C+=1", "A/B/C += 1 (put spaces around +=)", "A/B/C += VALUE (put spaces around +=)"),
        ("A/B/C -=1", "A/B/C -= 1 (put spaces around -=)", "A/B/C -= VALUE (put spaces around -=)"),
        ("A/B/C=", "A/B/C = VALUE", "A/B/C = VALUE"),
        ("A/B/C =", "A/B/C = VALUE", "A/B/C = VALUE"),
        ("A/B/C", "A/B/C = VALUE (or get A/B/C)", "A/B/C = VALUE (or get A/B/C)"),
        ("'A/B/C D'", "\"A/B/C D\" = VALUE (or get \"A/B/C D\")", "\"A/B/C D\" = VALUE (or get \"A/B/C D\")"),
        ("A/B/C 5", "A/B/C = 5", "A/B/C = VALUE"),
        ("A/B/C two words", "A/B/C = \"two words\"", "A/B/C = \"VALUE\""),
        (
            "A/B/C = rgb(1, 2, 3)", "A/B/C = \"rgb(1, 2, 3)\" (quote a value of several words)",
            "A/B/C = \"VALUE\" (quote a value of several words)"
        ),
        (
            "A/B/C=rgb(1, 2, 3)", "A/B/C = \"rgb(1, 2, 3)\" (put spaces around =)",
            "A/B/C = \"VALUE\" (put spaces around =)"
        ),
        (
            "set A/B/C two words", "set A/B/C \"two words\" (quote a value of several words)",
            "set A/B/C \"VALUE\" (quote a value of several words)"
        ),
        (
            "check A/B/C 1 2", "check A/B/C \"1 2\" (quote a value of several words)",
            "check A/B/C \"VALUE\" (quote a value of several words)"
        ),
        (
            "nonsense = a b", "nonsense = \"a b\" (quote a value of several words)",
            "nonsense = \"VALUE\" (quote a value of several words)"
        ),
    ])
    func nearly(_ line: String, _ meant: String, _ hidden: String) throws {
        guard case .nearly(let correction) = parsed(line) else { throw Unexpected(what: parsed(line)) }
        #expect(correction.error(showsValue: true).message == "write \(meant)")
        #expect(correction.error(showsValue: false).message == "write \(hidden)")
    }

    @Test func aLongValueIsNotRepeated() throws {
        guard case .nearly(let correction) = parsed("A/B/C=" + String(repeating: "x", count: 5_000)) else {
            throw Unexpected(what: .blank)
        }
        #expect(correction.error(showsValue: true).message == "write A/B/C = VALUE (put spaces around =)")
    }

    @Test func aQuestionMarkIsHelp() {
        #expect(parsed("?") == .request(.help(command: nil)))
        #expect(parsed("? set") == .request(.help(command: "set")))
    }

    @Test func everyCommandIsInOneGroup() {
        let names = Command.groups.flatMap(\.commands).map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names == Command.all.map(\.name))
    }

    @Test(arguments: [
        ("sett A/B/C 5", "did you mean set?"), ("GET A/B/C", "did you mean get?"), ("POST x", "type help"),
        ("Get A", "did you mean get?"), ("quit.", "did you mean quit?"), ("A/B", "type help"), ("A/B/C/D", "type help"),
        ("a=b", "type help"), ("=", "type help"), ("= 5", "type help"), ("okay", "type help"), ("*", "type help"),
        ("mkdir", "type help"),
    ])
    func unknownCommands(_ line: String, _ hint: String) throws {
        let (code, message, severity) = try error(line)
        #expect(code == .unknownCommand)
        #expect(severity == .fatalUnlessProven)
        #expect(message.contains(hint), "\(message)")
    }

    @Test(arguments: [
        "GET / HTTP/1.1", "POST /x HTTP/1.0", "get / http/2", "set A/B/C HTTP/1.1", "A/B/C = HtTp/1.1", "HTTP/",
        "ok HTTP/1.1",
        "x HTTP/1.1 # comment", "PRI * HTTP/2.0",
    ])
    func httpIsFatal(_ line: String) throws {
        let (code, _, severity) = try error(line)
        #expect(code == .unknownCommand)
        #expect(severity == .fatal)
    }

    /// A value that begins so can be written in quotes; only the last token counts.
    @Test(arguments: ["A/B/C = \"HTTP/1.1\"", "set A/B/C 'HTTP/1.1'", "get HTTP/1.1 A", "A/B/C = HTTP", "find HTTPS/"])
    func notHTTP(_ line: String) {
        if case .failure = parsed(line) { Issue.record("\(parsed(line))") }
    }

    @Test(arguments: [
        ("\"", TweakError.Code.badQuoting), ("a\"b", .badQuoting), ("\u{1}", .badLine), ("get \u{9B}", .badLine),
    ])
    func noTokens(_ line: String, _ expected: TweakError.Code) throws {
        let (code, message, severity) = try error(line)
        #expect(code == expected)
        #expect(severity == .fatalUnlessProven)
        #expect(!message.isEmpty)
    }

    /// What somebody sent is repeated short and harmless.
    @Test func errorsQuoteNothingHostile() throws {
        #expect(
            try error("\u{202E}abc\u{2028}").message.unicodeScalars.allSatisfy { $0 != "\u{202E}" && $0 != "\u{2028}" })
        #expect(try error(String(repeating: "x", count: 5_000)).message.utf8.count < 200)
    }
}
