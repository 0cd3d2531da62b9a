// Tests the arguments of tweakctl-fleet, its settings, and the errors for invalid ones.

import Testing
import Tweaks
import TweaksFleet
import TweaksSystem

@testable import TweaksFleetOperator

@Suite struct FleetArgumentsTests {
    private func arguments(_ line: String) throws -> FleetArguments { try FleetArguments(ShellWords.split(line)) }

    private func failure<Value>(_ body: () throws -> Value) -> String {
        do {
            return "no error: \(try body())"
        } catch {
            return (error as? Failure).map { "\($0.code.rawValue) \($0.description)" } ?? "\(error)"
        }
    }

    @Test func `Options are recognized everywhere, and the last of each counts`() throws {
        let arguments = try arguments("--etcd http://a api --json set 'A/B/C = 1' --etcd=http://b --for 90s -y")
        #expect(arguments.fleet == "api" && arguments.verb == .set && arguments.words == ["A/B/C = 1"])
        #expect(arguments.value(.etcd) == "http://b" && arguments.isJSON && arguments.has(.yes))
        #expect(try arguments.seconds(.for, atLeast: 1) == 90)
    }

    @Test(arguments: [
        ("api set A/B/C = -5", ["A/B/C", "=", "-5"]), ("api reset -- --x/y/z", ["--x/y/z"]), ("api import -", ["-"]),
    ])
    func `A value after an equals sign, words after two dashes and a dash are not options`(
        _ line: String, _ words: [String]
    ) throws { #expect(try arguments(line).words == words) }

    @Test(arguments: [
        ("", "2 name a fleet and a verb"), ("set", "2 set: name the fleet first"),
        ("api", "2 name what to do: ls, get"),
        ("api stats", "2 “stats” is not a verb; did you mean status?"), ("api ls --jsn", "did you mean --json?"),
        ("api ls --etcd", "2 --etcd needs a value: --etcd URL"), ("api ls --json=1", "2 --json takes no value"),
        ("a/b ls", "2 “a/b” is not a fleet name"), ("api ls --for 5m", "2 --for is not an option of ls"),
        ("api status x", "2 status: use tweakctl fleet api status"),
        ("api get", "2 get: use tweakctl fleet api get"),
        ("api pause", "2 pause: use tweakctl fleet api pause ID"), ("api undo 1 2", "2 undo: use"),
        ("api panel x", "2 panel: use tweakctl fleet api panel"),
        ("api ls --port 1", "2 --port is not an option of ls"),
    ])
    func `An invalid command line is an error with a remedy`(_ line: String, _ text: String) {
        #expect(failure { try arguments(line) }.contains(text))
    }

    @Test(arguments: [
        ("5m", 300 as Int64?), ("1500ms", 2), ("0s", nil), ("5", nil), ("-5m", nil), ("400h", 1_440_000),
        ("9000h", nil),
    ])
    func `Durations are rounded up to seconds`(_ text: String, _ seconds: Int64?) throws {
        let arguments = try FleetArguments(["api", "set", "x", "--for", text])
        #expect((try? arguments.seconds(.for, atLeast: 1)) == seconds)
    }

    @Test func `Assignments are three words, or one`() throws {
        let words = ["A/B/Font Name", "=", "two words", "A/B/C = 72", "\"A/B/D e\" = \"72\"", "A/B/L = [1, 2]"]
        #expect(
            try TextAssignment.all(words) == [
                TextAssignment(path: try TweakPath("A/B/Font Name"), text: "two words"),
                TextAssignment(path: try TweakPath("A/B/C"), text: "72"),
                TextAssignment(path: try TweakPath("A/B/D e"), text: "72", isQuoted: true),
                TextAssignment(path: try TweakPath("A/B/L"), text: "[1, 2]"),
            ])
    }

    @Test(arguments: [
        (["A/B/C=5"], "“A/B/C=5”: put spaces around “=”, and text in quotes: 'A/B/C = 5'"),
        (["A/B/C"], "is not an assignment"), (["A/B/C", "="], "a value is missing"),
        (["A/B", "=", "5"], "is not a path"), (["A/B/C = 1 2"], "put spaces"),
    ])
    func `An invalid assignment is an error`(_ words: [String], _ text: String) {
        #expect(failure { try TextAssignment.all(words) }.contains(text))
    }

    private func plan(_ options: String) throws -> RolloutPlan {
        let arguments = try arguments("api rollout 'A/B/C = 1' \(options)")
        let assignment = FleetAssignment(try TweakPath("A/B/C"), .int(1))
        return try RolloutPlan(arguments, [assignment], id: "r1", leastEvery: 60)
    }

    @Test func `A rollout's options become its plan`() throws {
        let plan = try plan(
            "--where zone=eu,tier=1 --where zone=eu --steps 0.5,12.5,100% --every 2m --abort-if 'S/E/Rate > 5' "
                + "--abort-if 'S/E/Free <= 0.5' --confirm-within 10m")
        #expect(plan.selector == ["zone": "eu", "tier": "1"])
        #expect(plan.steps.map(\.hundredths) == [50, 1_250, 10_000])
        #expect(plan.every == 120 && plan.confirmWithin == 600)
        #expect(plan.abortIf.map(\.comparison) == [.above, .atMost] && plan.abortIf.map(\.limit) == [5, 0.5])
        let strata = try self.plan("--canary zone=eu,host=web1 --seed a:1 --per zone --steps 0,50")
        #expect(strata.canary == ["zone": "eu", "host": "web1"] && strata.seed == "a:1" && strata.per == "zone")
        #expect(strata.steps.map(\.hundredths) == [0, 5_000])
        let standard = try self.plan("")
        #expect(standard.canary.isEmpty && standard.seed == nil && standard.per == nil)
        #expect(standard.steps.map(\.hundredths) == [100, 1_000, 5_000, 10_000] && standard.every == 300)
    }

    @Test(arguments: [
        ("--steps 10,5", "does not grow"), ("--steps 0,5", "--steps: 0 is for canaries alone; name them by --canary"),
        ("--steps 10,0 --canary zone=eu", "does not grow"), ("--canary zone", "--canary: “zone” is not a label"),
        ("--canary zone=eu --canary zone=us", "--canary: no process has two values of zone"),
        ("--seed 'a b'", "--seed: “a b” is not a seed; use letters"), ("--per 'a b'", "is not the name of a label"),
        ("--per zone=eu", "--per: “zone=eu” is not the name of a label"),
        ("--steps 101", "is not a percentage"), ("--steps x", "is not a percentage"),
        ("--every 59s", "--every: 59s is not between 60s"),
        ("--every x", "is not a duration"), ("--abort-if 'x'", "is not a condition"), ("--where zone", "--where"),
        ("--where zone=eu --where zone=us", "no process has two values of zone"),
        ("--detach --revert-if-driver-dies", "leave one out"),
        (
            String(repeating: "--abort-if 'A/B/C > 5' --abort-if-prometheus 'up < 1' ", count: 11),
            "22 conditions are too many"
        ),
        ("--at 22:00 --drive-here", "leave out --drive-here"), ("--abort-if-prometheus up", "is not a condition"),
        ("--keep-if-driver-dies --revert-if-driver-dies", "--keep-if-driver-dies keeps the rollout"),
    ])
    func `An invalid option of a rollout is an error`(_ options: String, _ text: String) {
        let failure = failure { try plan(options) }
        #expect(failure.hasPrefix("2 ") && failure.contains(text), "\(failure)")
    }

    private func settings(_ line: String, _ environment: [String: String] = [:]) throws -> OperatorSettings {
        try OperatorSettings(try arguments(line), environment)
    }

    @Test func `Options take precedence over the environment`() throws {
        let environment = ["TWEAKS_FLEET": "http://env:1,http://env:2", "TWEAKS_FLEET_PREFIX": "/staging/"]
        let fromEnvironment = try settings("api ls", environment)
        #expect(fromEnvironment.endpoints == ["http://env:1", "http://env:2"])
        #expect(fromEnvironment.keys == FleetKeys(prefix: "/staging", name: "api"))
        #expect(fromEnvironment.who.contains("@"))
        let user = ["TWEAKS_FLEET_USER": "ana", "TWEAKS_FLEET_PASSWORD_FILE": "/a"]
        let known = try settings("api ls", environment.merging(user) { $1 })
        #expect(known.user == "ana" && known.passwordFile == "/a")
        let other = try settings("api ls --user bob --password-file /b", environment.merging(user) { $1 })
        #expect(other.user == "bob" && other.passwordFile == "/b")
        let given = try settings("api ls --etcd http://flag:1 --prefix /x --as carol", environment)
        #expect(given.endpoints == ["http://flag:1"] && given.keys.prefix == "/x" && given.who == "carol")
    }

    @Test(arguments: [
        ("api ls", [:] as [String: String], "no URL of etcd"), ("api ls", ["TWEAKS_FLEET": "off"], "no URL of etcd"),
        ("api ls --etcd localhost:2379", [:], "is not a URL"),
        ("api ls --etcd http://a --prefix x", [:], "is not a prefix"),
        ("api ls --etcd http://a --user root", [:], "go together"),
        ("api ls --etcd http://a", ["TWEAKS_FLEET_USER": "root"], "TWEAKS_FLEET_PASSWORD_FILE; name both"),
    ])
    func `An invalid setting is an error`(_ line: String, _ environment: [String: String], _ text: String) {
        let failure = failure { try settings(line, environment) }
        #expect(failure.hasPrefix("2 ") && failure.contains(text), "\(failure)")
    }

    @Test func `The help contains all verbs and options`() {
        for verb in FleetVerb.allCases { #expect(FleetUsage.help.contains("  \(verb.usage)")) }
        for option in FleetOption.allCases { #expect(FleetUsage.help.contains("  \(option.synopsis)")) }
    }

    @Test(arguments: [
        (["api", "re"], ["reset", "resume", "reject"]), (["api", "rollout", "--st"], ["--steps"]), (["a"], []),
        (["api", "ls", "--js"], ["--json"]), (["api", "rollout", "--pe"], ["--per"]),
        (["api", "rollout", "x", "--se"], ["--seed"]), (["api", "rollout", "--ca"], ["--canary"]),
        (["api", "set", "--ca"], []),
    ])
    func `Completions match the last word`(_ words: [String], _ candidates: [String]) {
        #expect(FleetCompletion.candidates(words) == candidates)
    }
}
