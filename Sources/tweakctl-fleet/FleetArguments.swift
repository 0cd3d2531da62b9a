// Parses the command line: the fleet, the command and its options.

import Tweaks
import TweaksFleet
import TweaksSystem

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
            throw Failure(.usage, "\(verb.rawValue): write tweakctl fleet \(fleet) \(verb.usage)")
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
                    + "“:”; write tweakctl fleet NAME VERB")
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
