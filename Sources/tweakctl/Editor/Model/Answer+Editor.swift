// What the editor takes from lines: reasons, plain paths and values, origins.

import Tweaks
import TweaksTerminal
import TweaksWire

extension Answer {
    /// Code and words of a refusal, in either form.
    var complaint: String {
        guard status.hasPrefix("{"), let error = JSON(status)?["error"] else {
            return Painter.refusal(status)
        }
        return Quoting.sanitized("\(error["code"]?.string ?? "error"): \(error["message"]?.string ?? "")")
    }

    /// Whether a request changed nothing.
    var isUnchanged: Bool { status.split(separator: " ").dropFirst(3).first == "unchanged" }

    /// What was done, in the words of the server; nil where it has none.
    var deed: String? {
        guard let words = Console.remark(status) else { return nil }
        let deed = isUnchanged ? words.dropFirst("unchanged ".count) : words[...]
        return String(deed[..<(deed.firstRange(of: "; ")?.lowerBound ?? deed.endIndex)])
    }

    /// What a swap says of the way back, by the keys that lead there.
    var advice: String? { status.contains(" swapped to ") ? "p w goes back" : nil }

    /// The words alone.
    var reason: String {
        complaint.firstRange(of: ": ").map { String(complaint[$0.upperBound...]) } ?? complaint
    }
}

extension TweakRow {
    /// Without quotes.
    var plainPath: String? { path.hasPrefix("\"") ? CommandText.tokens(path).first?.text : path }

    /// Without quotes.
    var plainValue: String? { value.hasPrefix("\"") ? CommandText.tokens(value).first?.text : value }

    /// Who it was: behind the value before, which may say anything.
    var origin: String? {
        guard note.hasPrefix("was ") else { return nil }
        var rest = note.dropFirst(4)
        guard TweakRow.takeToken(&rest) != nil else { return nil }
        // `by uid 1000`, or `for 10m by uid 1000` of a temporary one.
        if rest.hasPrefix("by ") { return String(rest.dropFirst(3)) }
        return rest.firstRange(of: " by ").map { String(rest[$0.upperBound...]) }
    }
}
