// Interprets the output of a full-screen program, so that its screen can be compared as text.

import TweaksSystem

@testable import tweakctl

/// A terminal in memory, with the sequences that the editor uses.
struct ScreenEmulator {
    private(set) var columns: Int
    private(set) var rows: Int
    private var cells: [[String]]
    private(set) var row = 0
    private(set) var column = 0
    /// The private modes that are on, such as 1049 for the alternate screen.
    private(set) var modes: Set<String> = ["25"]
    /// All parameters of SGR sequences so far: colors and attributes.
    private(set) var attributes: Set<String> = []
    /// Unknown sequences since the alternate screen was entered, which the editor must not send.
    private(set) var unknown: [String] = []
    private var unread: [UInt8] = []

    init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        cells = Self.blank(columns, rows)
    }

    private static func blank(_ columns: Int, _ rows: Int) -> [[String]] {
        Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    /// Changes the size, and clears the screen, because terminals differ in what they keep.
    mutating func resize(columns: Int, rows: Int) {
        (self.columns, self.rows, row, column) = (columns, rows, 0, 0)
        cells = Self.blank(columns, rows)
    }

    var lines: [String] { cells.map { $0.joined().trimmedAtEnd } }
    var text: String { lines.joined(separator: "\n") }
    var isAlternate: Bool { modes.contains("?1049") }
    var showsCursor: Bool { modes.contains("25") }

    /// Interprets bytes, which may end within a sequence.
    mutating func feed(_ bytes: some Sequence<UInt8>) {
        unread += bytes
        var position = 0
        while let length = step(unread[position...]) { position += length }
        unread.removeFirst(position)
    }

    /// Interprets one character or sequence.
    /// - Returns: Its length in bytes; nil if it is incomplete.
    private mutating func step(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first else { return nil }
        switch first {
        case 0x1B: return sequence(bytes)
        case 0x0D: column = 0
        case 0x0A: (row, column) = (min(row + 1, rows - 1), 0)
        case 0..<0x20: unknown.append("control \(first)")
        case 0x20..<0x80: put(Character(UnicodeScalar(first)))
        default:
            let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
            guard bytes.count >= length else { return nil }
            for character in String(decoding: bytes.prefix(length), as: UTF8.self) { put(character) }
            return length
        }
        return 1
    }

    private mutating func sequence(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 2 else { return nil }
        guard bytes[bytes.startIndex + 1] == UInt8(ascii: "[") else {
            unknown.append("escape")
            return 2
        }
        let rest = bytes.dropFirst(2)
        guard let end = rest.firstIndex(where: { $0 >= 0x40 }) else { return nil }
        let parameters = String(decoding: rest[..<end], as: UTF8.self)
        control(Character(UnicodeScalar(rest[end])), parameters)
        return end - bytes.startIndex + 1
    }

    private mutating func control(_ final: Character, _ parameters: String) {
        switch (final, parameters) {
        case ("H", _):
            let numbers = parameters.split(separator: ";").compactMap { Int($0) }
            (row, column) = numbers.count == 2 ? (numbers[0] - 1, numbers[1] - 1) : (0, 0)
            if !(0..<rows).contains(row) || !(0..<columns).contains(column) { unknown.append("H\(parameters)") }
            (row, column) = (min(max(row, 0), rows - 1), min(max(column, 0), columns - 1))
        case ("K", ""): for cell in min(column, columns)..<columns { cells[row][cell] = " " }
        case ("J", "2"): cells = Self.blank(columns, rows)
        case ("m", _): attributes.formUnion(parameters.split(separator: ";").map { String($0) })
        case ("h", "?1049"), ("l", "?1049"):
            cells = Self.blank(columns, rows)
            if final == "h" { unknown = [] }
            set("?1049", final)
        case ("h", "?25"), ("l", "?25"): set("25", final)
        case ("h", "?2004"), ("l", "?2004"), ("h", "?1002"), ("l", "?1002"), ("h", "?1006"), ("l", "?1006"):
            set(parameters, final)
        default: unknown.append(parameters + String(final))
        }
    }

    private mutating func set(_ mode: String, _ final: Character) {
        if final == "h" { modes.insert(mode) } else { modes.remove(mode) }
    }

    /// Writes a character at the cursor; one beyond the right edge is recorded as unknown.
    private mutating func put(_ character: Character) {
        let width = TextWidth.of(character)
        if width == 0 {
            if column > 0 { cells[row][column - 1] += String(character) }
            return
        }
        guard column + width <= columns else { return unknown.append("beyond the edge: \(character)") }
        cells[row][column] = String(character)
        if width == 2 { cells[row][column + 1] = "" }
        column += width
    }
}
