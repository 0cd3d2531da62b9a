// The table of processes that offer tweaks, and the few lines about one of them.

import Tweaks
import TweaksTerminal
import TweaksWire

/// Shows who is there.
struct Listing {
    private let console: Console

    init(_ console: Console) { self.console = console }

    /// All of them; nobody is no failure.
    func show() -> ExitCode {
        let neighbours = Neighbour.running().map(Neighbour.init(asking:))
        if console.isJSON {
            console.print(neighbours.map { Quoting.sanitized($0.json.text) })
        } else if neighbours.isEmpty {
            console.complain(Neighbour.nobody)
        } else {
            console.print(Self.table(neighbours, console.style))
        }
        return .ok
    }

    /// Columns, with a heading for people.
    static func table(_ neighbours: [Neighbour], _ style: Style) -> [String] {
        var rows = neighbours.map { neighbour -> [String] in
            let name = Quoting.sanitized(neighbour.socket.name)
            guard neighbour.isTalking else { return [name, "-", "-", "-"] }
            return [name] + [neighbour.processID, neighbour.tweaks, neighbour.modified].map { $0 ?? "-" }
        }
        if style.isForPeople { rows.insert(["NAME", "PID", "TWEAKS", "MODIFIED"], at: 0) }
        let widths = (0..<4).map { column in rows.map { TextWidth.of($0[column]) }.max() ?? 0 }
        return rows.enumerated().map { position, row in
            let isHeading = style.isForPeople && position == 0
            let cells = zip(row, widths).enumerated().map { column, cell -> String in
                let (text, width) = cell
                let blanks = String(repeating: " ", count: width - TextWidth.of(text))
                if isHeading { return column == 0 ? text + blanks : blanks + text }
                if column == 0 { return style.paint(text, .name) + blanks }
                return blanks + (column == 3 && text != "0" && text != "-" ? style.paint(text, .marked) : text)
            }
            let line = cells.joined(separator: "  ")
            return isHeading ? style.paint(line, .faint) : line + (row[1] == "-" ? "  does not answer" : "")
        }
    }

    /// One process: who it is, and what is modified; for terminals that cannot show the full-screen editor.
    func showStatus(of target: Target) throws(Failure) -> ExitCode {
        let connection = try target.connect()
        func asked(_ line: String) throws(Failure) -> Answer {
            guard let answer = connection.ask(line, within: 3_000) else { throw target.silence }
            if answer.isRefusal { throw Failure(.refused, "\(target.name): \(answer.complaint)") }
            return answer
        }
        if console.isJSON {
            _ = try asked("json on")
            console.report(try asked("stats"))
            return .ok
        }
        let (hello, stats, modified) = (try asked("hello 1"), try asked("stats"), try asked("modified"))
        let facts = [
            hello.fact("name").map { console.style.paint($0, .name) }, hello.fact("pid").map { "pid \($0)" },
            stats.fact("uptimeSeconds").flatMap { Int($0) }.map { "up \(Self.duration($0))" },
            stats.fact("tweaks").map { "\($0) tweaks" }, stats.fact("modified").map { "\($0) modified" },
            stats.fact("rev").map { "rev \($0)" },
        ]
        console.print([facts.compactMap(\.self).joined(separator: ", ")])
        console.printBody(modified.body)
        return .ok
    }

    /// `3d 4h`, `12m 5s`: the two largest units.
    static func duration(_ seconds: Int) -> String {
        let parts = [("d", 86_400, Int.max), ("h", 3_600, 24), ("m", 60, 60), ("s", 1, 60)].map { unit, length, limit in
            (unit, seconds / length % limit)
        }
        guard let first = parts.firstIndex(where: { $0.1 > 0 }) else { return "0s" }
        return parts[first...].prefix(2).map { "\($0.1)\($0.0)" }.joined(separator: " ")
    }
}
