// Tests the status line: its width, and the size that it suggests.

import Testing
import Tweaks

@testable import bounce

@Suite struct StatusLineTests {
    @Test(arguments: [(80, 24), (100, 30), (40, 12), (20, 5), (200, 60), (1, 1)])
    func theLineFitsTheScreen(_ columns: Int, _ rows: Int) {
        #expect(StatusLine(address: "nc 127.0.0.1 7777").text(on: (columns, rows), rate: 60).count <= columns)
    }

    @Test func aUsualScreenShowsAddressKeysAndRate() {
        let line = StatusLine(address: "nc 127.0.0.1 7777").text(on: (80, 24), rate: 60, label: "Tweaks")
        #expect(line == " nc 127.0.0.1 7777   try: Label/Text/Size = 12   q quits   p panel   60 fps")
    }

    @Test(arguments: [(80, 24), (132, 43), (200, 60), (40, 12)])
    func theSuggestedSizeFitsTheScreen(_ columns: Int, _ rows: Int) {
        let lettering = Lettering("Tweaks")
        let size = StatusLine.size(for: lettering, on: (columns, rows))
        #expect(lettering.width * size / Font.height <= columns && size <= 2 * rows)
        #expect(Double(size) != Look.size.defaultValue && (4...120).contains(size))
    }

    @Test func withoutAnAddressTheLineSaysSo() {
        #expect(StatusLine(address: nil).text(on: (80, 24), rate: 1).hasPrefix(" not listening   q quits"))
    }
}
