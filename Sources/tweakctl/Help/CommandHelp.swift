// Groups the commands that `help` lists under headings.

import TweaksSystem
import TweaksWire

/// Formats the answer to `help`.
enum CommandHelp {
    /// The lines with a heading before the first command of each group.
    static func grouped(_ body: [String], _ style: Style) -> [String] {
        guard style.isHumanReadable else { return body }
        var title: String?
        return body.flatMap { line in
            let name = line.split(separator: " ").first.map { String($0) } ?? ""
            let group = Command.groups.first { $0.commands.contains { $0.name == name } }?.title
            defer { title = group }
            return group == nil || group == title ? [line] : [style.paint(group ?? "", .name), line]
        }
    }
}
