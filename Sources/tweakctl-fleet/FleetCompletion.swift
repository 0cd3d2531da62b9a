// Answers `tweakctl-fleet __complete WORD…`, whose last word is the one being typed, without contacting etcd.

/// Completions for a partial command line.
enum FleetCompletion {
    static func candidates(_ words: [String]) -> [String] {
        let typed = words.last ?? ""
        let before = words.dropLast().filter { !$0.hasPrefix("-") }
        let verb = before.dropFirst().first.flatMap(FleetVerb.init(rawValue:))
        let all: [String]
        if typed.hasPrefix("-") {
            all = (FleetOption.common + (verb?.options ?? [])).map(\.name)
        } else {
            all = before.count == 1 ? FleetVerb.allCases.map(\.rawValue) : []
        }
        return all.filter { $0.hasPrefix(typed) }
    }
}
