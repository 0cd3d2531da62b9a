// Interprets the escape sequences of bounce, and no others, in memory.

@testable import bounce

/// A grid of cells as a terminal shows it.
struct FakeTerminal {
    struct Cell: Equatable {
        var symbol: Character = " "
        var foreground = Pixel.white
        var background = Pixel.black
    }

    let columns: Int
    private(set) var cells: [Cell]
    /// Unknown sequences, and output outside the screen.
    private(set) var errors: [String] = []
    private var cursor = 0
    private var pen = Cell()

    init(columns: Int, rows: Int) {
        self.columns = columns
        cells = Array(repeating: Cell(), count: columns * rows)
    }

    mutating func feed(_ bytes: [UInt8]) {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        while let character = rest.popFirst() {
            guard character == "\u{1B}" else {
                put(character)
                continue
            }
            let body = rest.prefix { !$0.isLetter }
            rest = rest.dropFirst(body.count)
            execute(body.dropFirst(), rest.popFirst())
        }
    }

    func text(row: Int) -> String { String(cells[row * columns..<(row + 1) * columns].map(\.symbol)) }

    /// The pixels of the first rows, two in each cell.
    func pixels(rows: Int) -> [Pixel] {
        (0..<rows * 2).flatMap { y in
            (0..<columns).map { x in
                let cell = cells[y / 2 * columns + x]
                return cell.symbol == "▀" && y % 2 == 0 ? cell.foreground : cell.background
            }
        }
    }

    private mutating func put(_ character: Character) {
        guard cells.indices.contains(cursor) else { return errors.append("wrote outside: \(character)") }
        cells[cursor] = Cell(symbol: character, foreground: pen.foreground, background: pen.background)
        cursor += 1
    }

    private mutating func execute(_ body: Substring, _ final: Character?) {
        let numbers = body.split(separator: ";").compactMap { Int($0) }
        switch (final, body) {
        case ("H", _) where numbers.count == 2: cursor = (numbers[0] - 1) * columns + numbers[1] - 1
        case ("J", "2"): cells = cells.map { _ in Cell() }
        case ("h", "?2026"), ("l", "?2026"): break
        case ("m", "0"): pen = Cell()
        case ("m", _) where numbers.count == 5 && numbers[1] == 2: setColor(numbers)
        default: errors.append("unknown: \(body)\(final.map(String.init) ?? "")")
        }
    }

    private mutating func setColor(_ numbers: [Int]) {
        let color = Pixel(red: UInt8(numbers[2]), green: UInt8(numbers[3]), blue: UInt8(numbers[4]))
        if numbers[0] == 38 { pen.foreground = color } else { pen.background = color }
    }
}
