// What clients of the soak do: the kinds of lives, each a few steps.

/// One thing that a client does.
enum SoakStep {
    case send([UInt8])
    /// Reads until so many statuses have come.
    case hear(statuses: Int)
    /// Reads whatever comes, for so many milliseconds.
    case listen(Int)
    /// Reads nothing, for so many milliseconds.
    case deaf(Int)
    case halfClose
    /// Reads until the server closes.
    case hearTheEnd
    /// Breaks off with a reset.
    case vanish
}

/// A kind of client.
enum SoakLife: String, CaseIterable {
    case sets, floods, watches, stalls, halfCloses, vanishes, trickles, strangers, idles, temporaries, actions, looks,
        presets, reloads, undoes, batches, programs

    /// What one of its kind does.
    func steps(_ generator: inout SeededGenerator) -> [SoakStep] {
        switch self {
        case .sets: return asked((0..<10).map { _ in Self.set(&generator) })
        case .floods:
            let lines = (0..<500).map { _ in Self.set(&generator) }
            return [send(lines), .hear(statuses: 500)]
        case .watches: return [send(["watch Soak"]), .listen(generator.some(500...4_000))] + asked(["unwatch"])
        case .stalls: return [send(Array(repeating: "get *", count: 300)), .deaf(generator.some(500...4_000))]
        case .halfCloses: return [send([Self.set(&generator), "get *", "stats"]), .halfClose, .hearTheEnd]
        case .vanishes: return [send(["get *", Self.set(&generator), "watch *"]), .vanish]
        case .trickles: return "get Soak/Numbers/N1\n".utf8.flatMap { [.send([$0]), .listen(20)] }
        case .strangers:
            return [.send((0..<generator.some(1...2_000)).map { _ in generator.byte() }), .halfClose, .hearTheEnd]
        case .idles: return [.listen(generator.some(100...8_000))]
        case .temporaries: return asked([Self.set(&generator) + " for 300ms", "watch modified"]) + [.listen(1_000)]
        case .actions:
            let runs = asked(["run Soak/Actions/Slow", "run Soak/Actions/Long"])
            return generator.isLucky() ? runs : [send(["run Soak/Actions/Slow"]), .vanish]
        case .looks:
            return asked(["find numb 7", "complete \"set Soak/\"", "explain Soak/Numbers/N1", "history 5", "ls Soak"])
        case .presets: return asked(["save soak\(generator.some(1...20))", "presets", "load soak1", "swap soak2"])
        case .reloads: return asked(["reload dry", "reload"])
        case .undoes: return asked([Self.set(&generator), "undo", "redo", "reset *"])
        case .batches:
            let begun = ["begin"] + (0..<50).map { _ in Self.set(&generator) }
            return generator.isLucky() ? asked(begun + ["commit"]) : [send(begun), .vanish]
        case .programs: return asked(["hello 1 json", "get *", Self.set(&generator), "nonsense", "whoami", "sessions"])
        }
    }

    private func send(_ lines: [String]) -> SoakStep { .send(Array((lines.joined(separator: "\n") + "\n").utf8)) }

    /// Each answered before the next.
    private func asked(_ lines: [String]) -> [SoakStep] { lines.flatMap { [send([$0]), .hear(statuses: 1)] } }

    private static func set(_ generator: inout SeededGenerator) -> String {
        let number = generator.some(0...99)
        if generator.isLucky() { return "set Soak/Numbers/N\(number) \(generator.some(0...1_000_000))" }
        let text = String(repeating: "x", count: generator.some(0...200))
        return "set Soak/Texts/T\(number) \"\(text)\""
    }
}

extension SeededGenerator {
    mutating func some(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func byte() -> UInt8 { UInt8.random(in: .min ... .max, using: &self) }
    mutating func isLucky() -> Bool { Bool.random(using: &self) }
}
