// Parses the command line: options, connection settings, assignments, and the plan of a rollout.

import Tweaks
import TweaksFleet
import TweaksSystem
import TweaksWire

/// The command line, parsed without contacting etcd.
struct FleetArguments: Equatable {
    var fleet = ""
    var verb = FleetVerb.ls
    var words: [String] = []
    /// The values of options, in order; empty texts for options without a value.
    private(set) var given: [FleetOption: [String]] = [:]

    /// A request for information about the program itself.
    enum InfoRequest: Equatable { case help, version }

    /// Set if only help or the version is requested.
    var infoRequest: InfoRequest? {
        if has(.help) { return .help }
        return has(.version) ? .version : nil
    }

    init(_ arguments: some Sequence<String>) throws(Failure) {
        let all = try Self.split(arguments, &given)
        if infoRequest != nil { return }
        guard let fleet = all.first else {
            throw Failure(.usage, "name a fleet and a verb, as in tweakctl fleet api status; see --help")
        }
        try Self.check(fleet: fleet, isAlone: all.count == 1)
        self.fleet = fleet
        verb = try Self.verb(all.dropFirst().first)
        words = Array(all.dropFirst(2))
        guard verb.counts.contains(words.count) else {
            throw Failure(.usage, "\(verb.rawValue): use tweakctl fleet \(fleet) \(verb.usage)")
        }
        let allowed = Set(FleetOption.common + verb.options)
        for option in FleetOption.allCases where has(option) && !allowed.contains(option) && option != .yes {
            throw Failure(.usage, "\(option.name) is not an option of \(verb.rawValue); see --help")
        }
    }

    /// Separates options from words. After `--` everything is a word, and after `=` the next argument is one.
    private static func split(
        _ arguments: some Sequence<String>, _ given: inout [FleetOption: [String]]
    ) throws(Failure) -> [String] {
        var words: [String] = []
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return words + rest }
            guard argument.hasPrefix("-"), argument != "-", words.last != "=" else {
                words.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let option = try option(String(parts[0]))
            guard option.argument != nil else {
                if parts.count > 1 { throw Failure(.usage, "\(option.name) takes no value") }
                given[option, default: []].append("")
                continue
            }
            guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                throw Failure(.usage, "\(option.name) needs a value: \(option.synopsis)")
            }
            given[option, default: []].append(value)
        }
        return words
    }

    private static func option(_ text: String) throws(Failure) -> FleetOption {
        let short: [String: FleetOption] = ["-h": .help, "-y": .yes]
        if let option = short[text] ?? FleetOption.allCases.first(where: { $0.name == text }) { return option }
        let near = Spelling.nearest(to: text, among: FleetOption.allCases.map(\.name))
        let guess = near.map { "did you mean \($0)?" } ?? "see tweakctl fleet --help"
        throw Failure(.usage, "\(Quoting.excerpt(text)) is not an option; \(guess)")
    }

    private static func check(fleet: String, isAlone: Bool) throws(Failure) {
        if FleetVerb(rawValue: fleet) != nil, isAlone {
            throw Failure(.usage, "\(fleet): name the fleet first, as in tweakctl fleet api \(fleet)")
        }
        guard FleetInstance.isID(fleet) else {
            throw Failure(
                .usage,
                "\(Quoting.excerpt(fleet)) is not a fleet name, which has letters, digits, “.”, “_”, “-” and "
                    + "“:”; use tweakctl fleet NAME VERB")
        }
    }

    private static func verb(_ word: String?) throws(Failure) -> FleetVerb {
        guard let word else {
            throw Failure(.usage, "name what to do: \(FleetVerb.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if let verb = FleetVerb(rawValue: word) { return verb }
        let near = Spelling.nearest(to: word, among: FleetVerb.allCases.map(\.rawValue))
        let guess = near.map { "did you mean \($0)?" } ?? "see tweakctl fleet --help"
        throw Failure(.usage, "\(Quoting.excerpt(word)) is not a verb; \(guess)")
    }

    // MARK: Options

    func has(_ option: FleetOption) -> Bool { given[option] != nil }

    /// The value of an option; the last one if it is repeated.
    func value(_ option: FleetOption) -> String? { given[option]?.last }

    func values(_ option: FleetOption) -> [String] { given[option] ?? [] }

    var isJSON: Bool { has(.json) }

    /// A duration, rounded up to whole seconds.
    func seconds(_ option: FleetOption, atLeast: Int64) throws(Failure) -> Int64? {
        guard let text = value(option) else { return nil }
        guard let nanoseconds = DurationText.parse(text), nanoseconds > 0 else {
            throw Failure(.usage, "\(option.name): \(Quoting.excerpt(text)) is not a duration; write 90s, 5m or 1h30m")
        }
        let seconds = nanoseconds / 1_000_000_000 + (nanoseconds % 1_000_000_000 == 0 ? 0 : 1)
        guard seconds >= atLeast, seconds <= 31_536_000 else {
            throw Failure(.usage, "\(option.name): \(text) is not between \(atLeast)s and a year; write 5m")
        }
        return seconds
    }
}

/// The merged settings; options win.
struct OperatorSettings: Equatable {
    var endpoints: [String]
    var keys: FleetKeys
    var user: String?
    var passwordFile: String?
    /// user@host.
    var who: String
    /// The URL of Prometheus.
    var prometheus: String?

    init(_ arguments: FleetArguments, _ environment: [String: String]) throws(Failure) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let named = variable("TWEAKS_FLEET").flatMap { $0 == "off" ? nil : $0 }
        guard let text = arguments.value(.etcd) ?? named else {
            throw Failure(.usage, "no URL of etcd; use --etcd http://HOST:2379, or set TWEAKS_FLEET")
        }
        endpoints = text.split(separator: ",").map { String($0) }
        for endpoint in endpoints where !endpoint.hasPrefix("http://") && !endpoint.hasPrefix("https://") {
            throw Failure(.usage, "--etcd: \(Quoting.excerpt(endpoint)) is not a URL; write http://HOST:2379")
        }
        if endpoints.isEmpty { throw Failure(.usage, "--etcd: there is no URL in it; write http://HOST:2379") }
        let prefix = try Self.prefix(arguments.value(.prefix) ?? environment["TWEAKS_FLEET_PREFIX"] ?? "/tweaks")
        keys = FleetKeys(prefix: prefix, name: arguments.fleet)
        user = arguments.value(.user) ?? variable("TWEAKS_FLEET_USER")
        passwordFile = arguments.value(.passwordFile) ?? variable("TWEAKS_FLEET_PASSWORD_FILE")
        if (user == nil) != (passwordFile == nil) {
            throw Failure(
                .usage,
                "--user and --password-file go together, as do TWEAKS_FLEET_USER and TWEAKS_FLEET_PASSWORD_FILE; "
                    + "name both or neither")
        }
        prometheus = arguments.value(.prometheus) ?? variable("TWEAKS_FLEET_PROMETHEUS")
        who = arguments.value(.who) ?? Self.login(environment)
        if !Quoting.isSafe(who) || who.utf8.count > 128 {
            throw Failure(.usage, "--as: \(Quoting.excerpt(who)) is not a name; use at most 128 plain bytes")
        }
    }

    private static func prefix(_ text: String) throws(Failure) -> String {
        var prefix = text[...]
        while prefix.hasSuffix("/") { prefix = prefix.dropLast() }
        guard prefix.hasPrefix("/"), Quoting.isSafe(String(prefix)) else {
            throw Failure(.usage, "--prefix: \(Quoting.excerpt(text)) is not a prefix; write one like /tweaks")
        }
        return String(prefix)
    }

    /// The current user and host.
    private static func login(_ environment: [String: String]) -> String {
        let user =
            getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? environment["USER"] ?? "uid \(geteuid())"
        return "\(user)@\(FleetIdentity.host)"
    }

    /// The server of Prometheus, if one is named.
    func prometheusServer() throws(Failure) -> Prometheus? {
        guard let prometheus else { return nil }
        do throws(FleetProblem) {
            return try Prometheus(prometheus)
        } catch {
            throw Failure(.usage, "--prometheus: \(error.text)")
        }
    }

    /// Creates a client with these settings.
    func etcd(_ connector: (any EtcdConnector)? = nil) throws(Failure) -> any Etcd {
        do {
            return EtcdClient(
                try EtcdConfiguration(
                    endpoints: endpoints.joined(separator: ","), user: user, passwordFile: passwordFile,
                    connector: connector))
        } catch {
            throw Failure(.usage, "--etcd: \(error)")
        }
    }
}

extension TextAssignment {
    /// Parses all assignments.
    static func all(_ words: [String]) throws(Failure) -> [TextAssignment] {
        var rest = words[...]
        var assignments: [TextAssignment] = []
        while let word = rest.popFirst() {
            if rest.first == "=" {
                rest.removeFirst()
                guard let value = rest.popFirst() else {
                    throw Failure(.usage, "\(Quoting.excerpt(word)): a value is missing after the =")
                }
                assignments.append(TextAssignment(path: try path(word), text: value))
            } else {
                assignments.append(try single(word))
            }
        }
        return assignments
    }

    /// Parses a single word: `'A/B/C = 72'`.
    private static func single(_ word: String) throws(Failure) -> TextAssignment {
        var line = word
        let tokens = line.withUTF8 { (try? Tokenizer.tokens($0)) ?? [] }
        if tokens.count == 3, tokens[1].isBare("=") {
            return TextAssignment(
                path: try path(tokens[0].text), text: tokens[2].text, isQuoted: tokens[2].isQuoted)
        }
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, let path = try? TweakPath(trimmed(parts[0])) {
            let text = "\(path.token) = \(trimmed(parts[1]))"
            throw Failure(.usage, "\(Quoting.excerpt(word)): put spaces around “=”, and text in quotes: '\(text)'")
        }
        throw Failure(.usage, "\(Quoting.excerpt(word)) is not an assignment; write PATH = VALUE")
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Parses a path.
    static func path(_ text: String) throws(Failure) -> TweakPath {
        do throws(TweakError) {
            return try TweakPath(text)
        } catch {
            throw Failure(.usage, error.message)
        }
    }
}

extension RolloutPlan {
    /// Creates a plan from the options.
    init(
        _ arguments: FleetArguments, _ assignments: [FleetAssignment], id: String, leastEvery: Int64
    ) throws(Failure) {
        self.init(id: id, assignments: assignments)
        selector = try Labels(selecting: arguments.values(.where))
        try readStrata(arguments)
        steps = try Self.steps(arguments.value(.steps) ?? "1,10,50,100", hasCanaries: !canary.isEmpty)
        every = try arguments.seconds(.every, atLeast: leastEvery) ?? 300
        confirmWithin = try arguments.seconds(.confirmWithin, atLeast: 60)
        for text in arguments.values(.abortIfPrometheus) {
            guard let condition = PrometheusCondition(parsing: text) else {
                throw Failure(
                    .usage,
                    "--abort-if-prometheus: \(Quoting.excerpt(text)) is not a condition; write "
                        + "'sum(rate(errors_total[1m])) > 5', or '… for 3 samples'")
            }
            abortIfPrometheus.append(condition)
        }
        for text in arguments.values(.abortIf) {
            guard let condition = MetricCondition(parsing: text) else {
                throw Failure(
                    .usage,
                    "--abort-if: \(Quoting.excerpt(text)) is not a condition; write 'Service/Errors/Rate > 5', "
                        + "'Service/Errors/Rate > 2 × others' or '… for 3 samples'")
            }
            if condition.isRelative, selector.isEmpty, steps.first == .all {
                throw Failure(
                    .usage,
                    "--abort-if: at 100 % there are no others to compare with; begin with less, as in --steps 10,100")
            }
            abortIf.append(condition)
        }
        let conditions = abortIf.count + abortIfPrometheus.count
        if conditions > Rollout.maxConditions {
            throw Failure(
                .usage,
                "--abort-if: \(conditions) conditions are too many; a rollout has at most \(Rollout.maxConditions)")
        }
        if arguments.has(.at), arguments.has(.driveHere) {
            throw Failure(.usage, "--at: a drive service begins and drives it; leave out --drive-here")
        }
        if arguments.has(.revertIfDriverDies), arguments.has(.detach) || arguments.has(.keepIfDriverDies) {
            let other = arguments.has(.detach) ? FleetOption.detach : .keepIfDriverDies
            throw Failure(
                .usage, "\(other.name) keeps the rollout, and --revert-if-driver-dies does not; leave one out")
        }
    }

    /// The moment of `--at`, in milliseconds since 1970: a time in UTC, of today or tomorrow without a date; or a duration
    /// from now.
    static func moment(_ text: String, now: Int64) throws(Failure) -> Int64 {
        if let moment = TimeText.parse(text) { return moment }
        if let nanoseconds = DurationText.parse(text), nanoseconds > 0 { return now.adding(nanoseconds / 1_000_000) }
        let day: Int64 = 86_400_000
        let midnight = TimeText.seconds(now).prefix(11)
        if let moment = TimeText.parse("\(midnight)\(text):00Z") { return moment > now ? moment : moment.adding(day) }
        throw Failure(
            .usage,
            "--at: \(Quoting.excerpt(text)) is not a moment; write 2026-12-01T22:00:00Z, 22:00 for that time in UTC, or 3h"
        )
    }

    /// Parses what decides which processes come first.
    private mutating func readStrata(_ arguments: FleetArguments) throws(Failure) {
        (seed, per) = (arguments.value(.seed), arguments.value(.per))
        canary = try Labels(selecting: arguments.values(.canary), .canary)
        if let seed, !FleetInstance.isID(seed) {
            throw Failure(.usage, "--seed: \(Quoting.excerpt(seed)) is not a seed; use \(Rollout.seedLetters)")
        }
        if let per, !Labels.isWord(per) {
            throw Failure(.usage, "--per: \(Quoting.excerpt(per)) is not the name of a label; write one like zone")
        }
    }

    /// - Parameter hasCanaries: Whether the first step can be 0.
    static func steps(_ text: String, hasCanaries: Bool = false) throws(Failure) -> [Share] {
        var steps: [Share] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let share = Share(percent: String(part)) else {
                throw Failure(
                    .usage, "--steps: \(Quoting.excerpt(String(part))) is not a percentage; write 1,10,50,100")
            }
            if share == .none, !hasCanaries {
                throw Failure(.usage, "--steps: 0 is for canaries alone; name them by --canary, or write 1,10,50,100")
            }
            if let last = steps.last, share <= last {
                throw Failure(.usage, "--steps: \(text) does not grow; write 1,10,50,100")
            }
            steps.append(share)
        }
        guard steps.count <= Rollout.maxSteps else {
            throw Failure(.usage, "--steps: \(steps.count) are too many; at most \(Rollout.maxSteps)")
        }
        return steps
    }
}

extension Int64 {
    /// The sum; saturates at the maximum.
    fileprivate func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

extension Labels {
    /// Parses the values of `--where` or `--canary`: all labels must match.
    init(selecting texts: [String], _ option: FleetOption = .where) throws(Failure) {
        self.init()
        for text in texts {
            for (label, value) in try Self.labels(text, option) {
                guard self[label] == nil || self[label] == value else {
                    throw Failure(.usage, "\(option.name): no process has two values of \(label); leave one out")
                }
                self[label] = value
            }
        }
    }

    private static func labels(_ text: String, _ option: FleetOption) throws(Failure) -> Labels {
        do throws(FleetProblem) {
            return try Labels(parsing: text)
        } catch {
            throw Failure(.usage, "\(option.name): \(error.description)")
        }
    }
}
