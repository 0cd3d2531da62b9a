// Prints the table of running processes that offer tweaks, and a summary of one process.

import Tweaks
import TweaksSystem
import TweaksWire

/// Lists running processes.
struct Listing {
    private let console: Console

    init(_ console: Console) { self.console = console }

    /// Prints all processes. An empty list is not a failure.
    func show() -> ExitCode {
        let processes = RunningProcess.running().map(RunningProcess.init(asking:))
        if console.isJSON {
            console.print(processes.map { Quoting.sanitized($0.json.text) })
        } else if processes.isEmpty {
            console.reportProblem(RunningProcess.noProcessText)
        } else {
            console.print(Self.table(processes, console.style))
        }
        return .ok
    }

    /// Aligned columns, with a heading on a terminal.
    static func table(_ processes: [RunningProcess], _ style: Style) -> [String] {
        var rows = processes.map { process -> [String] in
            let name = Quoting.sanitized(process.socket.name)
            guard process.isResponding else { return [name, "-", "-", "-"] }
            return [name] + [process.processID, process.tweaks, process.modified].map { $0 ?? "-" }
        }
        if style.isHumanReadable { rows.insert(["NAME", "PID", "TWEAKS", "MODIFIED"], at: 0) }
        let widths = (0..<4).map { column in rows.map { TextWidth.of($0[column]) }.max() ?? 0 }
        return rows.enumerated().map { position, row in
            let isHeading = style.isHumanReadable && position == 0
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

    /// Prints a summary and the modified tweaks of one process, for terminals that cannot show the full-screen editor.
    func showStatus(of target: Target) throws(Failure) -> ExitCode {
        let connection = try target.connect()
        func asked(_ line: String) throws(Failure) -> Answer {
            let answer = try target.ask(line, on: connection, withFields: line == "modified")
            if answer.isRefusal { throw Failure(.refused, "\(target.name): \(answer.complaint)") }
            return answer
        }
        if console.isJSON {
            _ = try asked("json on")
            console.report(try asked("stats"))
            return .ok
        }
        let hello = try asked("hello 1")
        let stats = try asked("stats")
        let modified = try asked("modified")
        let info = [
            hello.field("name").map { console.style.paint($0, .name) }, hello.field("pid").map { "pid \($0)" },
            stats.field("uptimeSeconds").flatMap { Int($0) }.map { "up \(Self.duration($0))" },
            stats.field("tweaks").map { "\($0) tweaks" }, stats.field("modified").map { "\($0) modified" },
            stats.field("rev").map { "rev \($0)" },
        ]
        console.print([info.compactMap(\.self).joined(separator: ", ")])
        console.printBody(modified)
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
