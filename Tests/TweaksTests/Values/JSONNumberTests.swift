// Tests that whole numbers of JSON are read exactly, however a program prints them.

import Testing

@testable import Tweaks

struct JSONNumberTests {
    private let registry = TweakRegistry()

    @Test(arguments: [
        ("5", 5), ("5.0", 5), ("5e0", 5), ("50e-1", 5), ("0.5e1", 5), ("5.00E+0", 5), ("-5.0", -5), ("-0.0", 0),
        ("0e999999999999999999999", 0), ("0.0000e-7", 0), ("9223372036854775807.0", Int.max),
        ("922337203685477580.7e1", Int.max), ("-9223372036854775808.0", Int.min), ("-92233720368547758080e-1", Int.min),
        ("9007199254740993.0", 9_007_199_254_740_993), ("1e18", 1_000_000_000_000_000_000),
        ("5" + String(repeating: "0", count: 300) + "e-300", 5),
    ])
    func anIntegralNumberIsAnInt(_ text: String, _ value: Int) throws {
        let tweak = try registry.register("A", "B", "C", 1)
        let node = tweak.erased.node
        #expect(try node.read(.literal(text)) == .int(Int64(value)))
        #expect(try node.read(literal: text) == .int(Int64(value)))
    }

    @Test(arguments: [
        "5.5", "1e-1", "0.1", "1e400", "1e20", "-1e20", "1e999999999999999999999", "1e-999999999999999999999",
        "18446744073709551616.0", "-9223372036854775809.0", "true", "\"5\"", "5.0x", "",
    ])
    func othersAreRefusedAndNeverRounded(_ text: String) throws {
        let node = try registry.register("A", "B", "C", 1).erased.node
        let error = try #require(throws: TweakError.self) { try node.read(literal: text) }
        #expect(error.code == .badValue && error.message.contains("write a whole number of 64 bits"))
        #expect(TweakValue(.literal(text), as: .int) == nil)
    }

    @Test func aNumberBeyondTheSignedOnesNeedsAKindThatHoldsIt() throws {
        #expect(
            try registry.register("A", "B", "U", 1 as UInt64).erased.node.read(literal: "18446744073709551615.0")
                == .unsigned(.max))
        let node = try registry.register("A", "B", "C", 1).erased.node
        let error = #expect(throws: TweakError.self) {
            try node.definition.validate(try node.read(literal: "9223372036854775808.0"), for: node.path)
        }
        #expect(error?.message.contains("9223372036854775808 does not fit in 64 signed bits") == true)
    }

    @Test func listsAndOptionalsReadThemToo() throws {
        let list = try registry.register("A", "B", "L", [1]).erased.node
        #expect(try list.read(.array([.literal("1.0"), .literal("20e-1")])) == .list([.int(1), .int(2)]))
        let optional = try registry.register("A", "B", "O", 1 as Int?).erased.node
        #expect(try optional.read(literal: "7.0") == .int(7))
        // A text keeps its digits, a number its value.
        #expect(try registry.register("A", "B", "S", "").erased.node.read(literal: "5.0") == .string("5.0"))
        #expect(try registry.register("A", "B", "N", 1.5).erased.node.read(literal: "5.0") == .number(5))
    }
}
