// Extracts reasons, plain paths and values, and origins from answer lines.

import Tweaks
import TweaksSystem
import TweaksWire

extension Answer {
    /// The code and the text of a refusal, in text or JSON form.
    var complaint: String {
        guard status.hasPrefix("{"), let error = JSON(status)?["error"] else {
            return ReplyFormatter.refusal(status)
        }
        return Quoting.sanitized("\(error["code"]?.string ?? "error"): \(error["message"]?.string ?? "")")
    }

    /// Whether a request changed nothing.
    var isUnchanged: Bool { status.split(separator: " ").dropFirst(3).first == "unchanged" }

    /// The server's text about the change; nil where it has none.
    var resultText: String? {
        guard let words = Console.additionalText(status) else { return nil }
        let text = isUnchanged ? words.dropFirst("unchanged ".count) : words[...]
        return String(text[..<(text.firstRange(of: "; ")?.lowerBound ?? text.endIndex)])
    }

    /// The hint after a swap, with the keys that swap back.
    var advice: String? { status.contains(" swapped to ") ? "p w goes back" : nil }

    /// The text of a refusal, without the code.
    var reason: String {
        complaint.firstRange(of: ": ").map { String(complaint[$0.upperBound...]) } ?? complaint
    }
}

extension TweakRow {
    /// The path without quotes.
    var plainPath: String? { path.hasPrefix("\"") ? CommandText.tokens(path).first?.text : path }

    /// The value without quotes.
    var plainValue: String? { value.hasPrefix("\"") ? CommandText.tokens(value).first?.text : value }

    /// The origin of the change. It follows the old value, which may contain any text.
    var origin: String? {
        guard note.hasPrefix("was ") else { return nil }
        var rest = note.dropFirst(4)
        guard TweakRow.parseToken(&rest) != nil else { return nil }
        // `by uid 1000`, or `for 10m by uid 1000` for a temporary override.
        if rest.hasPrefix("by ") { return String(rest.dropFirst(3)) }
        return rest.firstRange(of: " by ").map { String(rest[$0.upperBound...]) }
    }
}
