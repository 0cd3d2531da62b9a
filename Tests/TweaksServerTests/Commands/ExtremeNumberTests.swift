// Tests that no number in a request ends the process: each gets its reply, and the session goes on.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct ExtremeNumberTests {
    private let registry = TweakRegistry()
    private let rate: Tweak<Double>
    private let client: TestClient

    init() throws {
        rate = Tweak("Service", "Limits", "Rate", 0.00032, registry: registry)
        _ = Tweak("Service", "Limits", "Burst", 4, in: 0..., step: 2, policy: .snap, registry: registry)
        _ = Tweak("Service", "Limits", "Place", TweakPoint(x: 0, y: 0), registry: registry)
        _ = Tweak("Service", "Limits", "Rates", [1.0], registry: registry)
        tweakAction("Service", "Limits", "Try", arguments: [.init("rate", .number)], registry: registry) { _ in "done" }
        client = try TestServer(registry: registry).withClient().client
    }

    private static let number = "1.5e-9223372036854775808"

    @Test(arguments: [
        "check Service/Limits/Rate N", "set Service/Limits/Rate N", "Service/Limits/Rate = N",
        "Service/Limits/Rate += N", "Service/Limits/Rate -= N", "Service/Limits/Rate = 1+N",
        "Service/Limits/Rate = (N)",
        "Service/Limits/Burst = N", "check Service/Limits/Burst N", "Service/Limits/Place = N,N",
        "Service/Limits/Rates = [N, 1]", "set Service/Limits/Rate 1 for N", "run Service/Limits/Try N",
        "Service/Limits/Rate = Nh",
    ])
    func aNumberOfAnyExponentIsRefused(_ request: String) throws {
        #expect(try client.ask(request.replacing("N", with: Self.number)).last?.hasPrefix("error ") == true)
        #expect(try client.ask("ping").last?.hasPrefix("ok") == true && !rate.isModified)
    }

    @Test func aBatchIsRefused() throws {
        for line in ["begin", "Service/Limits/Rate = \(Self.number)", "ping"] { try client.ask(line) }
        _ = try client.ask("commit")
        #expect(try client.ask("ping").last?.hasPrefix("ok") == true && !rate.isModified)
    }

    @Test(arguments: [
        "watch * since N", "history N", "begin N", "kick N", "undo N", "hello N",
        "complete \"set Service/Limits/Rate N\"",
    ])
    func aCounterOfAnySizeGetsItsReply(_ request: String) throws {
        for number in [Self.number, "18446744073709551615", "18446744073709551616", "9223372036854775808", "-1"] {
            #expect(try client.ask(request.replacing("N", with: number)).last?.isEmpty == false)
        }
        #expect(try client.ask("ping").last?.hasPrefix("ok") == true)
    }

    @Test func smallStepsAreExact() throws {
        #expect(try client.ask("Service/Limits/Rate += 0.00001").first == "Service/Limits/Rate = 0.00033 # was 0.00032")
        try client.ask("Service/Limits/Rate -= 1e-5")
        for _ in 0..<20 { try client.ask("Service/Limits/Rate += 1e-8") }
        #expect(rate.value == 0.0003202)
        for _ in 0..<20 { try client.ask("Service/Limits/Rate -= 1e-8") }
        #expect(try client.ask("modified") == ["ok"] && rate.value == 0.00032)
    }
}
