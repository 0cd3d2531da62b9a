// tweakctl in full screen on a pseudo-terminal, with an emulator that shows what a person would see.

import Foundation
import Testing
import TweaksTestSupport

@testable import tweakctl

/// A terminal with the editor on it.
final class EditorTerminal {
    private let terminal: PseudoTerminal
    private(set) var screen: ScreenEmulator
    private var bytes: [UInt8] = []

    /// A shell that runs `tweakctl bounce`, and says how the terminal is before and after.
    init(_ surroundings: Surroundings, _ columns: Int, _ rows: Int, _ variables: String) throws {
        let settings = surroundings.environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        let script = """
            stty rows \(rows) cols \(columns); echo tty $(tty) end; echo before $(stty -g) end
            sh -c 'echo pid $$ end; exec env \(settings.replacingOccurrences(of: "'", with: "")) \(variables) "$0" bounce' \
            \(Surroundings.executable.path)
            echo; echo code $? after $(stty -g) end
            """
            .replacingOccurrences(of: "echo; echo code $?", with: "code=$?; echo; echo code $code")
        screen = ScreenEmulator(columns: columns, rows: rows)
        terminal = try PseudoTerminal(.sh, ["-c", script])
    }

    func type(_ keys: String) throws { try terminal.type(keys) }

    /// Reads until the screen is as wanted.
    func wait(_ isWanted: (EditorTerminal) throws -> Bool) throws {
        while try !isWanted(self) {
            do {
                let chunk = try terminal.readBytes()
                bytes += chunk
                screen.feed(chunk)
            } catch {
                throw ClientError.ended("\(error), and the screen is\n\(screen.text)")
            }
        }
    }

    func wait(for text: String) throws { try wait { $0.screen.text.contains(text) } }

    /// Whether the program ever wrote this.
    func sawBytes(_ text: String) -> Bool { String(decoding: bytes, as: UTF8.self).contains(text) }

    /// How often the program wrote this.
    func count(_ text: String) -> Int { String(decoding: bytes, as: UTF8.self).ranges(of: text).count }

    private func word(_ key: String) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.firstRange(of: "\(key) ").map { String(text[$0.upperBound...].prefix { !$0.isWhitespace }) }
    }

    /// Gives the terminal another size, as a window does.
    func resize(_ columns: Int, _ rows: Int) throws {
        let name = try #require(word("tty"))
        screen.resize(columns: columns, rows: rows)
        _ = try Tool.sh.run(["-c", "stty rows \(rows) cols \(columns) < \(name)"], input: "")
    }

    func signal(_ number: Int32) throws {
        let process = try #require(word("pid"))
        _ = try Tool.sh.run(["-c", "kill -\(number) \(process)"], input: "")
    }

    /// Whether the terminal is as it was: its settings, its first screen, its cursor.
    var isRestored: Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return word("before") != nil && text.contains("after \(word("before") ?? "?") end") && !screen.isAlternate
            && screen.showsCursor && !screen.modes.contains("?2004")
    }
}
