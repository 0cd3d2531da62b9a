// What the editor takes from lines: reasons, plain paths and values, origins.

import Tweaks
import TweaksWire

extension Answer {
    /// Code and words of a refusal, in either form.
    var complaint: String {
        guard status.hasPrefix("{"), let error = JSONText.value(status)?["error"] else {
            return Painter.refusal(status)
        }
        return Quoting.sanitized("\(error["code"]?.string ?? "error"): \(error["message"]?.string ?? "")")
    }

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

extension TweakValue {
    /// As text without quotes.
    var plain: String {
        switch self {
        case .string(let text), .choice(let text): text
        default: text
        }
    }
}
