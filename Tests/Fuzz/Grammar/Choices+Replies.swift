// Produces the replies and events of a rogue server, and what a user types meanwhile, for tests of tweakctl.

import Tweaks

extension Choices {
    private mutating func kind() -> String {
        pick([
            "number", "int", "duration", "color", "point", "curve", "list", "choice", "string", "bool", "optional",
            "action",
        ])
    }

    /// The object that describes a tweak.
    package mutating func tweak() -> String {
        let kind = kind()
        var fields = [
            "\"path\":\"\(path())\"", "\"kind\":\"\(kind)\"", "\"value\":\(json())", "\"default\":\(json())",
            "\"modified\":\(pick(["true", "false"]))",
        ]
        for name in ["min", "max", "step", "value"] where below(3) > 0 {
            fields.append("\"\(name)\":\(below(2) == 0 ? numberOfJSON() : Quoting.json(duration()))")
        }
        if below(3) == 0 { fields.append("\"scale\":\"logarithmic\"") }
        if below(3) == 0 { fields.append("\"of\":\"\(self.kind())\"") }
        if below(4) == 0 { fields.append("\"timeLeft\":\(Quoting.json(duration()))") }
        if below(4) == 0 { fields.append("\"choices\":[{\"name\":\(Quoting.json(value()))},\(json())]") }
        if below(4) == 0 { fields.append("\"unit\":\(Quoting.json(value())),\"flags\":[\"\(pick(["secret", "x"]))\"]") }
        return "{" + fields.joined(separator: ",") + "}"
    }

    /// The status line of `watch` in JSON.
    package mutating func tweaks() -> String {
        let list = tweak() + several(5) { "," + $0.tweak() }
        return "{\"ok\":true,\"rev\":\(numberOfJSON()),\"watching\":\(numberOfJSON()),\"tweaks\":[\(list)]}"
    }

    /// A line that shows a tweak, or another line of a reply.
    package mutating func replyLine() -> String {
        let shown = below(3) == 0 ? Quoting.json(value()) : value()
        switch below(6) {
        case 0: return "  \(pick(["rev", "uptimeSeconds", "pid", "name", "tweaks"])): \(counter())"
        case 1: return "\(path()) = \(shown) # was \(value())"
        case 2: return "\(path()) = \(shown) # \(kind()) \(number())...\(number()), default \(value())"
        case 3: return "\(path()) = \(shown) # duration \(duration())...\(duration()) step \(duration())"
        case 4: return "  \(pick(["→", " "])) override \(shown) by uid 7 at \(date()), \(duration()) left"
        default: return value()
        }
    }

    package mutating func event() -> String {
        below(2) == 0
            ? "event \(counter()) \(replyLine())"
            : "{\"event\":\"change\",\"rev\":\(numberOfJSON()),\"path\":\"\(path())\",\"value\":\(json())}"
    }

    /// The status of a reply.
    package mutating func status() -> String {
        switch below(4) {
        case 0: "ok rev \(counter())"
        case 1: "ok queued \(counter())"
        case 2: "error out-of-range \(value())"
        default: tweaks()
        }
    }

    /// Keys of the editor, as a terminal sends them.
    package mutating func keys() -> String {
        let arrows = ["A", "B", "C", "D"].flatMap { ["\u{1B}[\($0)", "\u{1B}[1;2\($0)", "\u{1B}[1;3\($0)"] }
        let others = ["\r", "e", " ", "/", "t", "r", "k", "u", "U", "h", "p", "c", "?", "\t", "\u{7F}", "␛", "␛"]
        return several(12) { choices in
            choices.below(8) == 0
                ? choices.value() : choices.pick(arrows + others + ["\u{1B}[5~", "\u{1B}[6~", "\u{1B}[F"])
        }
    }
}
