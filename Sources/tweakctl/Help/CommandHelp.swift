// Arranges the commands of a process under the headings of their subjects.

import TweaksTerminal
import TweaksWire

/// The list that `help` answers, for people.
enum CommandHelp {
    /// The lines with a heading before the first command of each subject.
    static func grouped(_ body: [String], _ style: Style) -> [String] {
        guard style.isForPeople else { return body }
        var title: String?
        return body.flatMap { line in
            let name = line.split(separator: " ").first.map { String($0) } ?? ""
            let group = Command.groups.first { $0.commands.contains { $0.name == name } }?.title
            defer { title = group }
            return group == nil || group == title ? [line] : [style.paint(group ?? "", .name), line]
        }
    }
}
