// Tests unsigned 64-bit numbers, which neither a signed integer nor a double holds, over the socket and HTTP.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct LargestNumberTests {
    private let registry = TweakRegistry()
    private let mask: Tweak<UInt64>

    init() { mask = Tweak("A", "B", "Mask", 1, registry: registry) }

    /// The digits of the value of a key in JSON.
    private func text(_ key: String, _ json: String) -> String? {
        json.components(separatedBy: "\"\(key)\":").dropFirst().first.map { String($0.prefix { $0.isNumber }) }
    }

    @Test func theyStayExactOverTheSocket() throws {
        let client = try PanelServer(registry: registry).connectByLine()
        for (request, value) in [
            ("set A/B/Mask 18446744073709551615", UInt64.max), ("set A/B/Mask 0xFFFFFFFFFFFFFFFE", .max - 1),
            ("A/B/Mask += 1", .max),
        ] {
            #expect(try client.ask(request).last?.hasPrefix("ok") == true)
            #expect(mask.value == value)
        }
        #expect(try client.ask("get A/B/Mask").first?.hasPrefix("A/B/Mask = 18446744073709551615 ") == true)
        #expect(try client.ask("set A/B/Mask 18446744073709551616").last?.hasPrefix("error ") == true)
        try client.send("json\n")
        _ = try client.line()
        try client.send("set A/B/Mask 18446744073709551613\n")
        let set = try client.line()
        #expect(set.contains(#""ok":true"#) && set.contains("18446744073709551613"), "\(set)")
        try client.send("get A/B/Mask\n")
        #expect(try text("value", client.line()) == "18446744073709551613")
        #expect(mask.value == UInt64.max - 2)
    }

    /// In a text, whose exponent an integer barely holds, and as JSON.
    @Test func numbersOfAnyExponentGetAnAnswer() throws {
        let rate = Tweak("Service", "Limits", "Rate", 0.00032, registry: registry)
        let (_, client, _) = try PanelServer.connectedWithLine(registry: registry)
        let number = "1.5e-9223372036854775808"
        for operation in ["value", "add", "subtract"] {
            for amount in ["\"\(number)\"", number, "\"1+\(number)\"", "[\(number)]"] {
                let body = #"{"changes":[{"path":"Service/Limits/Rate","\#(operation)":\#(amount)}]}"#
                for (method, target) in [("PATCH", "/api/tweaks"), ("POST", "/api/check")] {
                    #expect(try [400, 422].contains(client.ask(method, target, body).status), "\(body)")
                }
            }
        }
        let body = #"{"changes":[{"path":"Service/Limits/Rate","add":0.00001}]}"#
        #expect(try client.ask("PATCH", "/api/tweaks", body).status == 200 && rate.value == 0.00033)
    }

    @Test func theyStayExactOverHTTPAndInEvents() throws {
        let (_, client, line) = try PanelServer.connectedWithLine(registry: registry)
        for number in [UInt64.max, UInt64(Int64.max) + 1, UInt64(1) << 53 + 1] {
            let answer = try client.patch([("A/B/Mask", "\(number)")])
            #expect(answer.status == 200, "\(answer.body)")
            #expect(mask.value == number)
            for target in ["/api/tweaks", "/api/tweaks/A/B/Mask"] {
                #expect(try text("value", client.ask("GET", target).body) == "\(number)")
            }
        }
        #expect(try client.patch([("A/B/Mask", #""18446744073709551614""#)]).status == 200)
        #expect(mask.value == UInt64.max - 1)
        let refused = try client.patch([("A/B/Mask", "18446744073709551616")])
        #expect([400, 422].contains(refused.status) && mask.value == UInt64.max - 1)
        _ = try client.stream()
        try line.ask("set A/B/Mask 18446744073709551615")
        let event = try #require(try client.event())
        #expect(event.name == "change" && event.data.contains("18446744073709551615"))
    }
}
