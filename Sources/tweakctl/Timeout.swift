// Limits how long tweakctl waits for a process.

import Tweaks
import TweaksSystem
import TweaksWire

/// The time limit of connecting and of each answer.
enum Timeout: Equatable {
    /// 10 s; an action may take longer, as long as its process answers others.
    case standard
    case milliseconds(Int32)
    /// Without a limit.
    case off

    private static let standardMilliseconds: Int32 = 10_000

    /// Parses the value of `--timeout`.
    init(_ text: String) throws(Failure) {
        if text == "off" {
            self = .off
            return
        }
        let milliseconds = DurationText.parse(text).map { $0 / 1_000_000 }
        guard let milliseconds, milliseconds > 0, let number = Int32(exactly: milliseconds) else {
            throw Failure(
                .usage, "--timeout: \(Quoting.excerpt(text)) is not a timeout; write 500ms, 10s, 5m or off")
        }
        self = .milliseconds(number)
    }

    /// In milliseconds; nil waits without a limit.
    var milliseconds: Int32? {
        switch self {
        case .standard: Self.standardMilliseconds
        case .milliseconds(let number): number
        case .off: nil
        }
    }

    /// Whether the answer to a line may take longer: the process itself limits the time of its actions.
    func mayBeExtended(for line: some Collection<UInt8>) -> Bool {
        let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let first = line.drop { blanks.contains($0) }.prefix { !blanks.contains($0) }
        return self == .standard && first.elementsEqual(Command.run.name.utf8)
    }

    /// For messages: `10s`.
    var text: String {
        milliseconds.map { DurationText.print(Int64($0) * 1_000_000) } ?? "any time"
    }
}
