// Tests requests of all commands, assignments, ignored lines, and errors.

import Testing
import Tweaks
import TweaksWire

func parsed(_ line: String) -> ParsedLine { Array(line.utf8).withUnsafeBufferPointer { ParsedLine($0) } }

@Suite struct ParsedLineTests {
    @Test(
        arguments: [
            ("help", Request(.help)), ("help set", Request(.help, ["set"])), ("ls", Request(.ls)),
            ("ls A/B", Request(.ls, ["A/B"])), ("get A", Request(.get, ["A"])),
            ("get A B/C *", Request(.get, ["A", "B/C", "*"])), (#"get "A/B/C D""#, Request(.get, ["A/B/C D"])),
            ("set A/B/C 5", Request(.set, ["A/B/C"], change: .assign("5"))),
            ("set A/B/C 5 for 10s", Request(.set, ["A/B/C"], change: .assign("5"), lifetime: "10s")),
            ("set A/B/C toggle for \"1h\"", Request(.set, ["A/B/C"], change: .toggleOrWord, lifetime: "1h")),
            ("set A/B/C for for for", Request(.set, ["A/B/C"], change: .assign("for"), lifetime: "for")),
            ("keep A A/B/C", Request(.keep, ["A", "A/B/C"])),
            (#"set A/B/C """#, Request(.set, ["A/B/C"], change: .assign(""))),
            ("check A/B/C 5", Request(.check, ["A/B/C"], change: .assign("5"))),
            ("check A/B/C toggle", Request(.check, ["A/B/C"], change: .toggleOrWord)),
            ("reset A", Request(.reset, ["A"])),
            ("reset A B", Request(.reset, ["A", "B"])), ("find size", Request(.find, ["size"])),
            ("find a b", Request(.find, ["a", "b"])), ("modified", Request(.modified)),
            ("modified --stale", Request(.modified, [], [.stale])),
            ("modified --stale A", Request(.modified, ["A"], [.stale])),
            ("modified A --stale", Request(.modified, ["A"], [.stale])),
            ("modified \"--stale\"", Request(.modified, ["--stale"])),
            ("modified A", Request(.modified, ["A"])), ("describe A/B/C", Request(.describe, ["A/B/C"])),
            ("explain A/B/C", Request(.explain, ["A/B/C"])), ("watch A", Request(.watch, ["A"])),
            ("watch A B", Request(.watch, ["A", "B"])), ("watch A since 43", Request(.watch, ["A"], number: 43)),
            ("watch A B since 0", Request(.watch, ["A", "B"], number: 0)),
            ("watch modified", Request(.watch, [], [.modified])),
            ("watch A modified since 4", Request(.watch, ["A"], [.modified], number: 4)),
            ("unwatch modified", Request(.unwatch, [], [.modified])),
            ("unwatch 'modified'", Request(.unwatch, ["modified"])), ("unwatch", Request(.unwatch)),
            ("unwatch A", Request(.unwatch, ["A"])), ("run A/B/C", Request(.run, ["A/B/C"])),
            ("run A/B/C x 'y z'", Request(.run, ["A/B/C", "x", "y z"])), ("begin", Request(.begin)),
            ("begin 43", Request(.begin, number: 43)), ("commit", Request(.commit)), ("abort", Request(.abort)),
            ("export", Request(.export)), ("export A", Request(.export, ["A"])), ("conflicts", Request(.conflicts)),
            ("complete", Request(.complete)), ("complete se", Request(.complete, ["se"])),
            ("complete 'set A'", Request(.complete, ["set A"])), ("stats", Request(.stats)),
            ("hello 1", Request(.hello, number: 1)), ("hello 2 json", Request(.hello, [], [.json], number: 2)),
            ("json", Request(.json)), ("json on", Request(.json, [], [.on])), ("json off", Request(.json, [], [.off])),
            ("drag on", Request(.drag, [], [.on])), ("drag off", Request(.drag, [], [.off])),
            ("prompt", Request(.prompt)), ("prompt off", Request(.prompt, [], [.off])), ("ping", Request(.ping)),
            ("save warm", Request(.save, ["warm"])), ("save warm 'Content/*'", Request(.save, ["warm", "Content/*"])),
            ("export", Request(.export)), ("export --modified", Request(.export, [], [.onlyModified])),
            ("export A --modified", Request(.export, ["A"], [.onlyModified])),
            ("export '--modified'", Request(.export, ["--modified"])),
            ("load warm", Request(.load, ["warm"])), ("load --only warm", Request(.load, ["warm"], [.only])),
            ("load warm --only", Request(.load, ["warm"], [.only])),
            ("load warm partly", Request(.load, ["warm"], [.partly])),
            ("load --only warm partly", Request(.load, ["warm"], [.only, .partly])),
            ("load warm partly --only", Request(.load, ["warm"], [.partly, .only])),
            ("load partly", Request(.load, ["partly"])), ("load partly partly", Request(.load, ["partly"], [.partly])),
            ("load '--only'", Request(.load, ["--only"])),
            ("load --only \"--only\"", Request(.load, ["--only"], [.only])), ("presets", Request(.presets)),
            ("delete warm", Request(.delete, ["warm"])), ("diff warm", Request(.diff, ["warm"])),
            ("diff warm cold", Request(.diff, ["warm", "cold"])), ("swap warm", Request(.swap, ["warm"])),
            ("swap warm force", Request(.swap, ["warm"], [.force])), ("swap force", Request(.swap, ["force"])),
            ("quit", Request(.quit)), ("  ping\t# why", Request(.ping)),
        ] as [(String, Request)])
    func commandsAreRequests(_ line: String, _ request: Request) { #expect(parsed(line) == .request(request)) }

    @Test(
        arguments: [
            ("A/B/C = 5", "A/B/C", .assign("5")), ("A/B/C += 5", "A/B/C", .add("5")),
            ("A/B/C -= 5", "A/B/C", .subtract("5")),
            (#""A/B/C D" = "x y""#, "A/B/C D", .assign("x y")), ("A/B/C = '='", "A/B/C", .assign("=")),
            ("A/B/C = =", "A/B/C", .assign("=")), (#"A/B/C = """#, "A/B/C", .assign("")),
            ("A/B/C = #FF0000 # red", "A/B/C", .assign("#FF0000")), ("A/B/C = toggle", "A/B/C", .assign("toggle")),
            // Quoted words are paths; a path need not have three parts.
            (#""get" = 5"#, "get", .assign("5")), ("'ok' = 5", "ok", .assign("5")),
            ("nonsense = 5", "nonsense", .assign("5")), ("GET = 5", "GET", .assign("5")),
        ] as [(String, String, Request.Change)])
    func assignmentsAreSets(_ line: String, _ path: String, _ change: Request.Change) {
        #expect(parsed(line) == .request(Request(.set, [path], change: change)))
    }

    @Test(
        arguments: [
            ("set A/B/C toggle", Request(.set, ["A/B/C"], change: .toggleOrWord)),
            (#"set A/B/C "toggle""#, Request(.set, ["A/B/C"], change: .assign("toggle"))),
            ("set A/B/C '='", Request(.set, ["A/B/C"], change: .assign("="))),
            (#"watch "modified""#, Request(.watch, ["modified"])),
            (#"watch A "since" 4"#, Request(.watch, ["A", "since", "4"])),
            ("set A/B/C for", Request(.set, ["A/B/C"], change: .assign("for"))),
            // The first word is the command.
            ("set = 5", Request(.set, ["="], change: .assign("5"))), ("get = 5", Request(.get, ["=", "5"])),
        ] as [(String, Request)])
    func keywordsAreBareAndInPlace(_ line: String, _ request: Request) { #expect(parsed(line) == .request(request)) }

    @Test(arguments: ["", " ", "\t \t"]) func linesOfBlanksAreBlank(_ line: String) { #expect(parsed(line) == .blank) }

    @Test(arguments: ["#", "# set A/B/C 5", "  #x", "ok", "ok rev 43", "ok = 5", "  ok # x", "# HTTP/1.1"])
    func commentsAndRepliesAreIgnored(_ line: String) { #expect(parsed(line) == .ignored) }

    private func error(_ line: String) throws -> (code: TweakError.Code, message: String, ParsedLine.Severity) {
        switch parsed(line) {
        case .failure(let error, let severity): return (error.code, error.message, severity)
        case .correctable(let correction):
            let error = correction.error(.session(showsValue: true, isText: false))
            return (error.code, error.message, correction.severity)
        default: throw Unexpected(what: parsed(line))
        }
    }

    private struct Unexpected: Error { let what: ParsedLine }

    @Test(arguments: [
        "ls a b", "get", "set", "set A/B/C", "set A/B/C x y", "set A/B/C 5 for", "set A/B/C 5 to 10s",
        "set A/B/C 5 \"for\" 10s", "set A/B/C 5 for 10s x", "keep", "check", "check A/B/C", "check A/B/C x y", "reset",
        "find", "modified a b", "describe", "describe a b", "explain", "explain a b", "watch", "watch since 4",
        "watch since", "watch A since", "watch A since x", "watch A since -1", "watch A since +1", "unwatch a b", "run",
        "begin x", "begin -1", "begin 1 2", "save", "save a b c", "load", "load --only", "load a b",
        "load a partly partly", "load --only a --only", "load partly a", "load a 'partly'", "load a \"--only\"",
        "presets a", "delete", "delete a b", "diff", "diff a b c", "swap", "swap a b", "swap a force force",
        "commit now", "abort now", "export a b", "conflicts a", "stats a", "hello", "hello x", "hello 0", "hello -1",
        "hello 1 xml", "hello 1 json x", "json maybe", "json on on", "prompt 1", "ping ping", "quit now", "help a b",
        "A/B/C =", "A/B/C = x y", "A/B/C += ", "A/B/C -= 1 2", "A/B/C", "A/B/C=1", "A/B/C= 1", "A/B/C =1", "\"get\"",
        "'A/B/C'", "\"get\" A", "A/B/C 5", "A/B/C \"=\" 5", "nonsense =",
    ])
    func wrongArgumentsAreUsageErrors(_ line: String) throws {
        let (code, message, severity) = try error(line)
        #expect(code == .usage)
        let isChange = ["set", "keep", "reset", "A/B/C", "\"", "'", "nonsense"].contains { line.hasPrefix($0) }
        #expect(severity == (isChange ? .badChange : .ordinary), "\(message)")
    }

    @Test(arguments: [
        ("set A/B/C", "set PATH VALUE [for DURATION], as in: set Content/Text/Size 72"),
        ("commit now", "commit, as in: commit"),
    ])
    func usageNamesTheRemedy(_ line: String, _ remedy: String) throws {
        #expect(try error(line).message.hasPrefix(remedy))
    }

    /// A line, its correction, and the correction where the value may be a secret.
    @Test(arguments: [
        ("A/B/C=1", "put spaces around =: A/B/C = 1", "put spaces around =: A/B/C = VALUE"),
        ("A/B/C= 1", "put spaces around =: A/B/C = 1", "put spaces around =: A/B/C = VALUE"),
        ("A/B/C =1", "put spaces around =: A/B/C = 1", "put spaces around =: A/B/C = VALUE"),
        ("A/B/C+=1", "put spaces around +=: A/B/C += 1", "put spaces around +=: A/B/C += VALUE"),
        ("A/B/C -=1", "put spaces around -=: A/B/C -= 1", "put spaces around -=: A/B/C -= VALUE"),
        (
            "A/B/C=", "the value is missing: A/B/C = VALUE; get A/B/C shows it",
            "the value is missing: A/B/C = VALUE; get A/B/C shows it"
        ),
        ("A/B/C +=", "the value is missing: A/B/C += VALUE", "the value is missing: A/B/C += VALUE"),
        (
            "'A/B/C D'", "the value is missing: \"A/B/C D\" = VALUE; get \"A/B/C D\" shows it",
            "the value is missing: \"A/B/C D\" = VALUE; get \"A/B/C D\" shows it"
        ),
        ("A/B/C 5", "= is missing: A/B/C = 5", "= is missing: A/B/C = VALUE"),
        (
            "A/B/C *= 2", "there is no *=; write the result: A/B/C = VALUE",
            "there is no *=; write the result: A/B/C = VALUE"
        ),
        (
            "A/B/C /=2", "there is no /=; write the result: A/B/C = VALUE",
            "there is no /=; write the result: A/B/C = VALUE"
        ),
        ("A/B/C two words", "= is missing: A/B/C = \"two words\"", "= is missing: A/B/C = \"VALUE\""),
        (
            "A/B/C d = 5", "a path with blanks needs quotes: \"A/B/C d\" = 5",
            "a path with blanks needs quotes: \"A/B/C d\" = VALUE"
        ),
        (
            "A/B/C d += 5", "a path with blanks needs quotes: \"A/B/C d\" += 5",
            "a path with blanks needs quotes: \"A/B/C d\" += VALUE"
        ),
        (
            "A/B c/C = 5", "a path with blanks needs quotes: \"A/B c/C\" = 5",
            "a path with blanks needs quotes: \"A/B c/C\" = VALUE"
        ),
        ("A/B/C c2VjcmV0==", "= is missing: A/B/C = \"c2VjcmV0==\"", "= is missing: A/B/C = \"VALUE\""),
        ("A/B/C: 5", "= replaces the colon: A/B/C = 5", "= replaces the colon: A/B/C = VALUE"),
        ("A/B/C toggle", "set is missing: set A/B/C toggle", "set is missing: set A/B/C toggle"),
        (
            "A/B/C = rgb(1, 2, 3)", "quote a value of several words: A/B/C = \"rgb(1, 2, 3)\"",
            "quote a value of several words: A/B/C = \"VALUE\""
        ),
        (
            "A/B/C=rgb(1, 2, 3)", "put spaces around =: A/B/C = \"rgb(1, 2, 3)\"",
            "put spaces around =: A/B/C = \"VALUE\""
        ),
        (
            "set A/B/C two words", "quote a value of several words: set A/B/C \"two words\"",
            "quote a value of several words: set A/B/C \"VALUE\""
        ),
        (
            "set A/B/C = two words", "quote a value of several words: set A/B/C \"two words\"",
            "quote a value of several words: set A/B/C \"VALUE\""
        ),
        ("set A/B/C += 5", "it needs no set: A/B/C += 5", "it needs no set: A/B/C += VALUE"),
        (
            "check A/B/C 1 2", "quote a value of several words: check A/B/C \"1 2\"",
            "quote a value of several words: check A/B/C \"VALUE\""
        ),
        (
            "nonsense = a b", "quote a value of several words: nonsense = \"a b\"",
            "quote a value of several words: nonsense = \"VALUE\""
        ),
        ("A/B/C = 4 for 1m", "only set takes a time: set A/B/C 4 for 1m", ""),
        ("A/B/C=4 for 1m", "only set takes a time: set A/B/C 4 for 1m", ""),
        ("A/B/C 4 for 1m", "set is missing: set A/B/C 4 for 1m", ""),
        ("A/B/C = 4 for ever", "quote a value of several words: A/B/C = \"4 for ever\"", ""),
        (
            "A/B/C += 4 for 1m", "only set with a value takes a time: set A/B/C VALUE for DURATION",
            "only set with a value takes a time: set A/B/C VALUE for DURATION"
        ),
        ("set A/B/C += 2 for 10m", "only set with a value takes a time: set A/B/C VALUE for DURATION", ""),
        ("A/B/C = #FF8800 for 10s", "only set takes a time: set A/B/C #FF8800 for 10s", ""),
        ("A/B/C = rgb(1, 2, 3) for 10s", "only set takes a time: set A/B/C \"rgb(1, 2, 3)\" for 10s", ""),
        ("A/B/C = [1, 2] for 10s", "only set takes a time: set A/B/C [1, 2] for 10s", ""),
        ("A/B/C = '' for 10s", "only set takes a time: set A/B/C \"\" for 10s", ""),
        (
            "A/B/C = \"two words\" for 1m", "only set takes a time: set A/B/C \"two words\" for 1m",
            "only set takes a time: set A/B/C VALUE for DURATION"
        ),
        (
            "set A/B/C two words for 1m", "quote a value of several words: set A/B/C \"two words\" for 1m",
            "quote a value of several words: set A/B/C VALUE for DURATION"
        ),
        // The rest may be a secret.
        ("A/B/C:5", "= replaces the colon: A/B/C = 5", "= replaces the colon: A/B/C = VALUE"),
        ("A/B/C:pass=word", "= replaces the colon: A/B/C = \"pass=word\"", "= replaces the colon: A/B/C = \"VALUE\""),
        ("A/B/C:http://a:b@c/d", "= replaces the colon: A/B/C = http://a:b@c/d", "= replaces the colon: A/B/C = VALUE"),
        ("A/B/C:pass word", "= replaces the colon: A/B/C = \"pass word\"", "= replaces the colon: A/B/C = \"VALUE\""),
        (
            "A/B/C:", "the value is missing: A/B/C = VALUE; get A/B/C shows it",
            "the value is missing: A/B/C = VALUE; get A/B/C shows it"
        ),
    ])
    func nearlyCorrectLinesAreCorrected(_ line: String, _ correct: String, _ hidden: String) throws {
        guard case .correctable(let correction) = parsed(line) else { throw Unexpected(what: parsed(line)) }
        #expect(correction.error(.session(showsValue: true, isText: false)).message == correct)
        // What a line without secrets suggests can be sent as it is.
        if let meant = correct.firstRange(of: ": "), !correct.contains("VALUE") {
            let suggested = String(correct[meant.upperBound...])
            guard case .request = parsed(suggested) else { throw Unexpected(what: parsed(suggested)) }
        }
        if hidden.isEmpty { return }
        #expect(correction.error(.session(showsValue: false, isText: true)).message == hidden)
    }

    /// A name may have a colon, if a tweak of that name exists.
    @Test(arguments: [
        ("A/B/C:x", "the value is missing: A/B/C:x = VALUE; get A/B/C:x shows it"),
        ("A/B/C:x 5", "= is missing: A/B/C:x = 5"), ("A/B/C:x=5", "put spaces around =: A/B/C:x = 5"),
        ("A/B/C:x: 5", "= replaces the colon: A/B/C:x = 5"),
    ])
    func aKnownNameWithAColonIsPreferred(_ line: String, _ message: String) throws {
        guard case .correctable(let correction) = parsed(line) else { throw Unexpected(what: parsed(line)) }
        #expect(correction.path == "A/B/C")
        for known in [["A/B/C:x"], ["A/B/C", "A/B/C:x"]] {
            let meant = correction.meant(known.contains)
            #expect(meant.error(.session(showsValue: true, isText: false)).message == message)
        }
        #expect(correction.meant { _ in false }.path == "A/B/C")
    }

    @Test func onlyASwitchIsToggled() throws {
        guard case .correctable(let correction) = parsed("A/B/C toggle") else { throw Unexpected(what: parsed("")) }
        let message = correction.error(.session(showsValue: true, isText: false, isSwitch: false)).message
        #expect(message == "= is missing: A/B/C = VALUE")
    }

    /// A time may also be the end of a text; that of a secret is not repeated.
    @Test(arguments: [
        ("A/B/C = wait for 5m", true, "quote a value of several words: A/B/C = \"wait for 5m\"; for a time: "),
        ("A/B/C wait for 5m", true, "= is missing: A/B/C = \"wait for 5m\"; for a time: "),
        (
            "A/B/C = please wait for 5m", true,
            "quote a value of several words: A/B/C = \"please wait for 5m\"; for a time: "
        ),
        ("A/B/C = wait for 5m", false, "quote a value of several words: A/B/C = \"VALUE\"; for a time: "),
    ])
    func aTimeAfterATextIsAskedAbout(_ line: String, _ showsValue: Bool, _ start: String) throws {
        guard case .correctable(let correction) = parsed(line) else { throw Unexpected(what: parsed(line)) }
        let message = correction.error(.session(showsValue: showsValue, isText: true)).message
        #expect(message == start + "set A/B/C VALUE for DURATION")
        #expect(
            correction.error(.session(showsValue: false, isText: false)).message.hasSuffix(
                ": set A/B/C VALUE for DURATION"))
        #expect(!correction.error(.file).message.contains("set "))
    }

    /// `set PATH = VALUE`, unless the sign is itself the value.
    @Test(arguments: [
        ("set A/B/C = 5", Request(.set, ["A/B/C"], change: .assign("5"))),
        ("set A/B/C = 5 for 1m", Request(.set, ["A/B/C"], change: .assign("5"), lifetime: "1m")),
        ("set A/B/C = toggle", Request(.set, ["A/B/C"], change: .toggleOrWord)),
        ("set A/B/C = for", Request(.set, ["A/B/C"], change: .assign("for"))),
        ("set A/B/C = =", Request(.set, ["A/B/C"], change: .assign("="))),
        ("check A/B/C = 5", Request(.check, ["A/B/C"], change: .assign("5"))),
        ("set A/B/C =", Request(.set, ["A/B/C"], change: .assign("="))),
        ("set A/B/C = for 1m", Request(.set, ["A/B/C"], change: .assign("="), lifetime: "1m")),
        ("set A/B/C \"= 6\"", Request(.set, ["A/B/C"], change: .assign("= 6"))),
        ("set A/B/C \"=\"", Request(.set, ["A/B/C"], change: .assign("="))),
        ("set A/B/C for for 1m", Request(.set, ["A/B/C"], change: .assign("for"), lifetime: "1m")),
        ("set A/B/C =6", Request(.set, ["A/B/C"], change: .assign("=6"))),
    ])
    func theSignOfASetIsSkipped(_ line: String, _ request: Request) { #expect(parsed(line) == .request(request)) }

    /// A line of another protocol still ends its session.
    @Test(arguments: ["Shop Pool Size = 3", "My Shop/Pool/Size = 3", "a b=c"])
    func aPathThatBeginsLikeACommandIsFatal(_ line: String) throws {
        let (code, message, severity) = try error(line)
        #expect(code == .unknownCommand && severity == .fatalUnlessProven, "\(message)")
    }

    @Test(arguments: ["see twk_secret/a/b = 5", "x twk_secret = 5"])
    func aTokenInAPathIsNotRepeated(_ line: String) throws {
        #expect(try !error(line).message.contains("secret"))
    }

    @Test(arguments: [
        ("describe A/B/C d", "a path with blanks needs quotes: describe \"A/B/C d\""),
        ("ls A/B A/C", "ls [prefix], as in: ls Content"),
        ("ls A/B c", "a path with blanks needs quotes: ls \"A/B c\""),
        ("export A/B > x", "export [--modified] [PATTERN], as in: export Content"),
        ("explain a b", "explain PATH, as in: explain A/B/C"),
        ("explain \"A/B/C\" d", "explain PATH, as in: explain A/B/C"),
    ])
    func onePathOfSeveralWordsNeedsQuotes(_ line: String, _ message: String) throws {
        #expect(try error(line).message == message)
    }

    @Test func aLongValueIsNotRepeated() throws {
        let message = try error("A/B/C=" + String(repeating: "x", count: 5_000)).message
        #expect(message == "put spaces around =: A/B/C = VALUE")
    }

    /// `usage: write …` reads as if `write` were a command.
    @Test(arguments: [
        "A/B/C", "A/B/C=", "A/B/C 1", "A/B/C=1", "A/B/C = 1 2", "A/B/C: 1", "A/B/C toggle", "A/B/C = 1 for 1m",
        "set A/B/C", "set A/B/C 1 2", "set A/B/C += 1", "get", "commit now", "hello x", "twk_abc",
    ])
    func noRemedyBeginsLikeACommandThatThereIsNot(_ line: String) throws {
        #expect(try !error(line).message.contains("write "))
    }

    @Test func aQuestionMarkIsHelp() {
        #expect(parsed("?") == .request(Request(.help)))
        #expect(parsed("? set") == .request(Request(.help, ["set"])))
    }

    @Test func everyCommandIsInOneGroup() {
        let names = Command.groups.flatMap(\.commands).map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names == Command.all.map(\.name))
        // import is not part of the protocol.
        #expect(Set(Command.allCases) == Set(Command.all + [.import]))
    }

    @Test(arguments: [
        ("sett A/B/C 5", "did you mean set?"), ("GET A/B/C", "did you mean get?"), ("POST x", "type help"),
        ("Get A", "did you mean get?"), ("quit.", "did you mean quit?"), ("A/B", "did you mean get A/B?"),
        ("A/B/", "did you mean get A/B/?"),
        ("*/Size", "did you mean get */Size?"), ("A/B x", "type help"), ("A/B/C/D", "type help"), ("/", "type help"),
        ("a=b", "type help"), ("=", "type help"), ("= 5", "type help"), ("okay", "type help"), ("*", "type help"),
        ("mkdir", "type help"),
    ])
    func unknownCommandsHaveAHint(_ line: String, _ hint: String) throws {
        let (code, message, severity) = try error(line)
        #expect(code == .unknownCommand && severity == .fatalUnlessProven)
        #expect(message.contains(hint), "\(message)")
    }

    @Test(arguments: [
        "GET / HTTP/1.1", "POST /x HTTP/1.0", "PRI * HTTP/2.0", "OPTIONS * HTTP/1.1 # comment",
        "GET http://127.0.0.1:7777/ HTTP/1.1", "GET /a=b HTTP/1.1",
    ])
    func aRequestLineOfHTTPIsFatalUnlessProven(_ line: String) throws {
        let (code, message, severity) = try error(line)
        #expect(code == .unknownCommand && severity == .fatalUnlessProven && message.contains("not HTTP"))
    }

    @Test(arguments: [
        "ls HTTP/Server", "ls HTTP/", "get HTTP/Server", "get HTTP/1.1 A", "find HTTP/1.1", "HTTP/Server/Port = 80",
        "set HTTP/Server/Port 80", "reset HTTP", "watch http/*", "Label/Text/String = HTTP/2", "A/B/C = HTTP/1.1",
        "set A/B/C HTTP/1.1", "A/B/C = HtTp/1.1", "run A/B/C / HTTP/1.1", "A/B/C = \"HTTP/1.1\"", "begin # HTTP/1.1",
        "check A/B/C RTSP/1.0", "A/B/C = SIP/2.0", "A/B/C = SSH-2.0-OpenSSH", "find GET / HTTP/1.1",
    ])
    func pathsAndValuesThatBeginWithHTTPAreRequests(_ line: String) {
        if case .request = parsed(line) { return }
        Issue.record("\(parsed(line))")
    }

    /// Each of them has another error, as a word that is no command, or none.
    @Test(arguments: [
        "get / HTTP/1.1", "GET / HTTP/2", "GET / HTTP/11.1", "GET x HTTP/1.1", "GET / x HTTP/1.1", "HTTP/1.1",
        "ok HTTP/1.1", "\"GET\" / HTTP/1.1", "GET HTTP/1.1", "GET1 / HTTP/1.1",
    ])
    func similarLinesAreNotHTTP(_ line: String) {
        guard case .failure(let error, _) = parsed(line) else { return }
        #expect(!error.message.contains("not HTTP"))
    }

    @Test(arguments: [
        ("\"", TweakError.Code.badQuoting), ("a\"b", .badQuoting), ("\u{1}", .badLine), ("get \u{9B}", .badLine),
    ])
    func quotingAndCharacterErrorsAreFatalUnlessProven(_ line: String, _ expected: TweakError.Code) throws {
        let (code, message, severity) = try error(line)
        #expect(code == expected && severity == .fatalUnlessProven && !message.isEmpty)
    }

    @Test func errorsQuoteLinesShortenedAndEscaped() throws {
        #expect(
            try error("\u{202E}abc\u{2028}").message.unicodeScalars.allSatisfy { $0 != "\u{202E}" && $0 != "\u{2028}" })
        #expect(try error(String(repeating: "x", count: 5_000)).message.utf8.count < 200)
    }
}
