// Defines the behaviors of soak clients, each a sequence of steps.

/// One step of a client.
enum SoakStep {
    case send([UInt8])
    /// Reads until this many statuses have arrived.
    case awaitStatuses(Int)
    /// Reads for this many milliseconds.
    case read(Int)
    /// Reads nothing for this many milliseconds.
    case pauseReading(Int)
    case halfClose
    /// Reads until the server closes.
    case readToEnd
    /// Aborts the connection with a reset.
    case reset
}

/// A behavior of a client.
enum SoakBehavior: String, CaseIterable {
    case sets, floods, watches, stalls, halfCloses, vanishes, trickles, strangers, idles, temporaries, actions, looks,
        presets, reloads, undoes, batches, programs

    /// The steps of one session.
    func steps(_ generator: inout SeededGenerator) -> [SoakStep] {
        switch self {
        case .sets: return asked((0..<10).map { _ in Self.set(&generator) })
        case .floods:
            let lines = (0..<500).map { _ in Self.set(&generator) }
            return [send(lines), .awaitStatuses(500)]
        case .watches: return [send(["watch Soak"]), .read(generator.some(500...4_000))] + asked(["unwatch"])
        case .stalls: return [send(Array(repeating: "get *", count: 300)), .pauseReading(generator.some(500...4_000))]
        case .halfCloses: return [send([Self.set(&generator), "get *", "stats"]), .halfClose, .readToEnd]
        case .vanishes: return [send(["get *", Self.set(&generator), "watch *"]), .reset]
        case .trickles: return "get Soak/Numbers/N1\n".utf8.flatMap { [.send([$0]), .read(20)] }
        case .strangers:
            return [.send((0..<generator.some(1...2_000)).map { _ in generator.byte() }), .halfClose, .readToEnd]
        case .idles: return [.read(generator.some(100...8_000))]
        case .temporaries: return asked([Self.set(&generator) + " for 300ms", "watch modified"]) + [.read(1_000)]
        case .actions:
            let runs = asked(["run Soak/Actions/Slow", "run Soak/Actions/Long"])
            return generator.isLucky() ? runs : [send(["run Soak/Actions/Slow"]), .reset]
        case .looks:
            return asked(["find numb 7", "complete \"set Soak/\"", "explain Soak/Numbers/N1", "history 5", "ls Soak"])
        case .presets: return asked(["save soak\(generator.some(1...20))", "presets", "load soak1", "swap soak2"])
        case .reloads: return asked(["reload dry", "reload"])
        case .undoes: return asked([Self.set(&generator), "undo", "redo", "reset *"])
        case .batches:
            let begun = ["begin"] + (0..<50).map { _ in Self.set(&generator) }
            return generator.isLucky() ? asked(begun + ["commit"]) : [send(begun), .reset]
        case .programs: return asked(["hello 1 json", "get *", Self.set(&generator), "nonsense", "whoami", "sessions"])
        }
    }

    private func send(_ lines: [String]) -> SoakStep { .send(Array((lines.joined(separator: "\n") + "\n").utf8)) }

    /// Sends lines one by one, each after the reply to the previous one.
    private func asked(_ lines: [String]) -> [SoakStep] { lines.flatMap { [send([$0]), .awaitStatuses(1)] } }

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
