// Tests of the command line: the options before and after the command, and the errors.

import Testing
import TweaksSystem

@testable import tweakctl

@Suite struct InvocationTests {
    @Test func wordsAreACommand() throws {
        let invocation = try Invocation(["bounce", "set", "A/B/C", "-5"])
        #expect(invocation.words == ["bounce", "set", "A/B/C", "-5"])
        #expect(invocation.address == nil && !invocation.wantsJSON && invocation.action == .command)
    }

    @Test func optionsAreRecognized() throws {
        #expect(try Invocation(["-s", "/x/y", "get", "*"]).address == .unix(path: "/x/y"))
        #expect(try Invocation(["-H", "[::1]:7777", "ls"]).address == .tcp(host: "::1", port: "7777"))
        #expect(try Invocation(["-H", "7777"]).address == .tcp(host: "localhost", port: "7777"))
        #expect(try Invocation(["bounce", "get", "*", "--json"]).wantsJSON)
        #expect(try Invocation(["bounce", "--json", "get"]).words == ["bounce", "get"])
        let literal = try Invocation(["bounce", "set", "--", "A/B/C", "--json"])
        #expect(literal.words == ["bounce", "set", "A/B/C", "--json"] && !literal.wantsJSON)
        #expect(try Invocation(["bounce", "-", "--keep-going"]).keepsGoing)
        #expect(try Invocation(["--keep-going", "bounce"]).words == ["bounce"])
        #expect(try Invocation(["--", "-s"]).words == ["-s"])
        #expect(try Invocation(["-"]).words == ["-"])
        #expect(try Invocation(["--help"]).action == .help)
        #expect(try Invocation(["--version"]).action == .version)
    }

    @Test(arguments: [["login", "restore"], ["load", "restore"], ["wait", "restore"], ["state", "restore"]])
    func restoreAfterAVerbIsItsArgument(_ words: [String]) throws {
        #expect(try RestoreCommand(Invocation(words)) == nil)
        #expect(try RestoreCommand(Invocation(["bounce"] + words.suffix(1) + ["x"]))?.name == "bounce")
    }

    @Test(arguments: [
        (["login", "-H", "a:1"], ["login"]), (["-H", "a:1", "login", "--fd", "3"], ["login", "--fd", "3"]),
        (["login", "--fd", "3", "--host", "a:1"], ["login", "--fd", "3"]),
        (["get", "Label", "-H", "a:1"], ["get", "Label"]),
        (["get", "-H", "a:1", "A/B/C", "--json"], ["get", "A/B/C"]),
        (["set", "-H", "a:1", "A/B/C", "-5"], ["set", "A/B/C", "-5"]),
        (["watch", "A/B/C", "-H", "a:1"], ["watch", "A/B/C"]), (["logout", "-H", "a:1"], ["logout"]),
        (["repl", "-H", "a:1"], ["repl"]),
    ])
    func theAddressMayFollowTheVerb(_ arguments: [String], _ words: [String]) throws {
        let invocation = try Invocation(arguments)
        #expect(invocation.address == .tcp(host: "a", port: "1") && invocation.words == words)
    }

    @Test(arguments: [
        ["set", "A/B/C", "-s"], ["bounce", "set", "A/B/C", "-H"], ["A/B/C", "=", "-H"], ["bounce", "A/B/C", "=", "-s"],
        ["run", "A/B/C", "-s", "x"], ["bounce", "run", "A/B/C", "--host", "x"], ["find", "x", "-s"],
        ["check", "A/B/C", "-s"], ["set", "A/B/C", "--timeout"], ["bounce", "A/B/C", "=", "--keep-going"],
    ])
    func valuesAndArgumentsMayLookLikeOptions(_ arguments: [String]) throws {
        let invocation = try Invocation(arguments)
        #expect(invocation.address == nil && invocation.words == arguments)
    }

    @Test(arguments: [
        ["bounce", "--help"], ["bounce", "-h"], ["get", "--help"], ["bounce", "get", "A/B/C", "--help"],
        ["login", "--help"], ["audit", "--help"], ["import", "--help"], ["bounce", "panel", "-h"],
    ])
    func helpMayFollowOtherWords(_ arguments: [String]) throws {
        #expect(try Invocation(arguments).action == .help)
    }

    @Test(arguments: [
        ["set", "A/B/C", "--help"], ["A/B/C", "=", "-h"], ["find", "x", "--help"], ["token", "--help"],
    ])
    func aValueMayLookLikeARequestForHelp(_ arguments: [String]) throws {
        let invocation = try Invocation(arguments)
        #expect(invocation.action == .command && invocation.words == arguments)
    }

    /// The options of all commands.
    @Test func aMisspelledOptionOfACommandIsRecognized() throws {
        let (target, console) = (
            Target(.unix(path: "/nowhere"), timeout: .standard), Console(isJSON: false)
        )
        let attempts: [(words: [String], near: String, parse: () throws -> Void)] = [
            (["token"], "--scopes", { _ = try TokenCommand(["new", "ops", "--scope", "admin"], file: "/x", now: 0) }),
            (["audit"], "--head", { _ = try AuditCommand(["verify", "a.log", "--haed", "x"]) }),
            (["import"], "--dry-run", { _ = try ImportCommand(["import", "x", "--dryrun"], target, console) }),
            (["panel"], "--no-open", { _ = try PanelCommand(["panel", "--noopen"], target, console) }),
            (["login"], "--plain", { _ = try LoginArguments(.login, ["--plan"], hasAddress: true) }),
            (["logout"], "--keep", { _ = try LoginArguments(.logout, ["--kep"], hasAddress: true) }),
        ]
        for (words, near, parse) in attempts {
            let failure = #expect(throws: Failure.self) { try parse() }
            #expect(failure?.description.hasPrefix("\(words[0]): ") == true, "\(String(describing: failure))")
            #expect(failure?.description.hasSuffix("did you mean \(near)?") == true, "\(String(describing: failure))")
        }
    }

    @Test(arguments: [
        (["--jsn"], "did you mean --json?"), (["bounce", "--jsn"], "did you mean --json?"),
        (["-x"], "see tweakctl --help"), (["-s"], "needs a value"),
        (["--timeout"], "needs a value"),
        (["-H", "nowhere"], "write HOST:PORT"), (["-H", "a:0"], "write HOST:PORT"),
        (["-H", "a:65536"], "write HOST:PORT"),
    ])
    func aMistakeIsAUsageErrorWithARemedy(_ arguments: [String], _ text: String) {
        let failure = #expect(throws: Failure.self) { try Invocation(arguments) }
        #expect(failure?.code == .usage)
        #expect(failure?.description.contains(text) == true, "\(String(describing: failure))")
    }

    @Test func aNameMatchesASecondInstanceIfThereIsOnlyOne() throws {
        let sockets = ["bounce-12", "bounce-x", "bouncer", "other-1", "other-2"].map {
            NamedSocket(name: $0, path: "/run/\($0).sock")
        }
        #expect(try RunningProcess.instance(of: "bounce", among: sockets)?.name == "bounce-12")
        #expect(try RunningProcess.instance(of: "bouncer", among: sockets) == nil)
        #expect(throws: Failure(.usage, "other runs several times; name one of them: other-1, other-2")) {
            try RunningProcess.instance(of: "other", among: sockets)
        }
    }

    @Test(arguments: [(0, "0s"), (59, "59s"), (61, "1m 1s"), (3_600, "1h 0m"), (90_061, "1d 1h")])
    func aDurationHasItsTwoLargestUnits(_ seconds: Int, _ text: String) { #expect(Listing.duration(seconds) == text) }
}
