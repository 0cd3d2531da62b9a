// Runs the editor on a pseudo-terminal, with an emulator of its screen.

import Testing
import TweaksTestSupport

@testable import tweakctl

final class EditorTerminal {
    private let terminal: PseudoTerminal
    private(set) var screen: ScreenEmulator
    private var bytes: [UInt8] = []
    private var unread: ArraySlice<UInt8> = []

    /// Runs `tweakctl bounce`.
    init(_ fixture: TweakctlFixture, _ columns: Int, _ rows: Int, _ variables: String) throws {
        screen = ScreenEmulator(columns: columns, rows: rows)
        let setup = "stty rows \(rows) cols \(columns); echo tty $(tty) end\n"
        terminal = try PseudoTerminal(.sh, ["-c", setup + fixture.script("bounce", variables)])
    }

    /// Runs `tweakctl bounce`, and waits until everything is shown.
    static func live(
        _ fixture: TweakctlFixture, _ columns: Int = 80, _ rows: Int = 24, _ variables: String = "COLORTERM=truecolor"
    ) throws -> EditorTerminal {
        let terminal = try EditorTerminal(fixture, columns, rows, variables)
        try terminal.wait(for: "● live")
        try terminal.wait(for: "by code ")
        return terminal
    }

    func type(_ keys: String) throws { try terminal.type(keys) }

    /// Types keys, and waits until the screen shows a text.
    func type(_ keys: String, for text: String) throws {
        try type(keys)
        try wait(for: text)
    }

    /// Reads until a condition holds for the screen: frame by frame, as several may have arrived and a text is shown for a
    /// while only.
    func wait(_ condition: (EditorTerminal) throws -> Bool) throws {
        while try !condition(self) {
            do {
                if unread.isEmpty { unread = try terminal.readBytes()[...] }
            } catch {
                throw ClientError.ended("\(error), and the screen is\n\(screen.text)")
            }
            let frame = takeFrame()
            bytes += frame
            screen.feed(frame)
        }
    }

    /// Takes what was read through the next command that shows or hides the cursor, with which frames end.
    private func takeFrame() -> [UInt8] {
        let command = unread.firstRange(of: Array("\u{1B}[?25".utf8))?.upperBound ?? unread.endIndex
        let end = min(command + 1, unread.endIndex)
        defer { unread = unread[end...] }
        return Array(unread[..<end])
    }

    func wait(for text: String) throws { try wait { $0.screen.text.contains(text) } }

    /// All output so far.
    var output: String { String(decoding: bytes, as: UTF8.self) }

    func count(_ text: String) -> Int { output.ranges(of: text).count }

    /// Changes the size of the terminal, as a window does.
    func resize(_ columns: Int, _ rows: Int) throws {
        let name = try #require(output.word(after: "tty"))
        screen.resize(columns: columns, rows: rows)
        _ = try Tool.sh.run(["-c", "stty rows \(rows) cols \(columns) < \(name)"], input: "")
    }

    func signal(_ number: Int32) throws {
        let process = try #require(output.word(after: "pid"))
        _ = try Tool.sh.run(["-c", "kill -\(number) \(process)"], input: "")
    }

    /// Whether the terminal has its former settings, its main screen and its cursor again.
    var isRestored: Bool {
        guard let settings = output.word(after: "before") else { return false }
        return output.contains("after \(settings) end") && !screen.isAlternate && screen.showsCursor
            && screen.modes.isDisjoint(with: ["?2004", "?1002", "?1006"])
    }

    /// Quits the editor, which must restore the terminal.
    func quit() throws {
        try type("q", for: "code 0")
        #expect(isRestored)
    }
}
