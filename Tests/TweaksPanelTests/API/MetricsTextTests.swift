// Tests the two formats of metrics byte by byte, the choice between them, and the figures that they have.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import TweaksPanel

@Suite struct MetricsTextTests {
    private func text(_ format: MetricsFormat, _ write: (inout MetricsText) -> Void) -> String {
        var text = MetricsText(format)
        write(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test(
        arguments: [
            (
                .text,
                """
                # TYPE a_total counter
                # HELP a_total One "two" \\\\ three\\nfour
                a_total 7
                # TYPE b_bytes gauge
                # HELP b_bytes B
                b_bytes{x="\\"\\\\\\n",y="ü"} 0.5
                # TYPE c_info gauge
                # HELP c_info C
                c_info{v="1"} 1

                """
            ),
            (
                .open,
                """
                # TYPE a counter
                # HELP a One \\"two\\" \\\\ three\\nfour
                a_total 7
                # TYPE b_bytes gauge
                # UNIT b_bytes bytes
                # HELP b_bytes B
                b_bytes{x="\\"\\\\\\n",y="ü"} 0.5
                # TYPE c info
                # HELP c C
                c_info{v="1"} 1
                # EOF

                """
            ),
        ] as [(MetricsFormat, String)])
    func aFamilyIsWrittenAsItsFormatWants(_ format: MetricsFormat, _ wanted: String) {
        let written = text(format) { text in
            text.begin("a", .counter, "One \"two\" \\ three\nfour")
            text.add("a", .counter, [], "7")
            text.begin("b_bytes", .gauge, unit: "bytes", "B")
            text.add("b_bytes", .gauge, [("x", "\"\\\n"), ("y", "ü")], "0.5")
            text.begin("c", .info, "C")
            text.add("c", .info, [("v", "1")], "1")
            text.end()
        }
        #expect(written == wanted)
    }

    @Test(
        arguments: [
            ([], .text), (["*/*"], .text), (["text/plain"], .text), (["application/json"], .text),
            (["application/openmetrics-text"], .open), (["Application/OpenMetrics-Text; Version=1.0.0"], .open),
            (["application/openmetrics-text;version=0.0.1"], .text),
            (["application/openmetrics-text;q=0.4, text/plain;q=0.5"], .text),
            (["application/openmetrics-text;q=0"], .text), (["application/openmetrics-text;q=x"], .text),
            (["text/plain;version=0.0.4;q=0.5", "application/openmetrics-text;version=1.0.0;q=0.75"], .open),
            (
                [
                    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
                ], .open
            ),
        ] as [([String], MetricsFormat)])
    func theFormatIsThatOfTheHeaderAccept(_ accept: [String], _ format: MetricsFormat) {
        var request = HTTPRequest(method: "GET", path: ["metrics"])
        request.headers = accept.map { HTTPField("accept", $0) }
        #expect(MetricsFormat(request) == format)
    }

    /// The lines of the figures of a registry.
    private func figures(_ declare: (TweakRegistry) throws -> Void) rethrows -> [String] {
        let registry = TweakRegistry()
        try declare(registry)
        let snapshot = registry.snapshot()
        return registry.listing().nodes.map { node in text(.text) { $0.add(node, snapshot.value(of: node)) } }
            .filter { !$0.isEmpty }
    }

    @Test func figuresAreNumbersWithTheirPathAndUnit() throws {
        let lines = try figures { registry in
            let frames = Tweak("A", "B", "Rate", 0.0, unit: "fps", flags: .readOnly, registry: registry)
            try frames.set(59.94)
            _ = Tweak("A", "B", "Count", UInt64.max, flags: [.readOnly, .exported], registry: registry)
            _ = Tweak("A", "B", "Is on", true, flags: .readOnly, registry: registry)
            _ = Tweak("A", "B", "Say \"hi\\\"", -3, flags: .readOnly, registry: registry)
            _ = Tweak("A", "B", "Time", .milliseconds(1_250), flags: .readOnly, registry: registry)
            _ = Tweak("A", "B", "Found", Int?.some(5), flags: .readOnly, registry: registry)
        }
        #expect(
            Set(lines) == [
                "tweaks_figure{path=\"A/B/Rate\",unit=\"fps\"} 59.94\n",
                "tweaks_figure{path=\"A/B/Count\",unit=\"\"} 18446744073709551615\n",
                "tweaks_figure{path=\"A/B/Is on\",unit=\"\"} 1\n",
                "tweaks_figure{path=\"A/B/Say \\\"hi\\\\\\\"\",unit=\"\"} -3\n",
                "tweaks_figure{path=\"A/B/Time\",unit=\"seconds\"} 1.25\n",
                "tweaks_figure{path=\"A/B/Found\",unit=\"\"} 5\n",
            ])
    }

    @Test func everythingElseIsLeftOut() {
        let lines = figures { registry in
            _ = Tweak("A", "B", "Settable", 1, flags: .exported, registry: registry)
            _ = Tweak("A", "B", "Secret", 1, flags: [.readOnly, .secret, .exported], registry: registry)
            _ = Tweak("A", "B", "Text", "1", flags: .readOnly, registry: registry)
            _ = Tweak("A", "B", "None", Double?.none, flags: .readOnly, registry: registry)
            _ = Tweak("A", "B", "Color", TweakColor.black, flags: .readOnly, registry: registry)
            tweakAction("A", "B", "Act", registry: registry) { _ in "" }
        }
        #expect(lines == [])
    }

    /// What a name promises, its unit and its type keep.
    @Test func theNamesFollowTheConventions() {
        #expect(Set(ServerMetric.all.map(\.name)).count == ServerMetric.all.count)
        for metric in ServerMetric.all {
            #expect(metric.name.utf8.allSatisfy { (97...122).contains($0) || $0 == 95 }, "\(metric.name)")
            #expect(!metric.name.hasSuffix("_total") && !metric.name.hasSuffix("milliseconds"), "\(metric.name)")
            #expect(metric.help.hasSuffix("."), "\(metric.name)")
        }
    }

    @Test func milliSecondsBecomeSeconds() {
        let written = text(.open) { text in
            text.add(stats: [
                ("deliveryLagMilliseconds", .int(250)), ("requests", .int(3)), ("frozen", .bool(true)),
                ("heldBytes", .int(10)), ("storage", .string("off")), ("limits", .object([("memoryBytes", .int(99))])),
                ("limitsHit", .object([("sessions", .int(2))])),
            ])
        }
        for line in [
            "tweaks_server_delivery_lag_seconds 0.25\n", "tweaks_server_requests_total 3\n", "tweaks_server_frozen 1\n",
            "# UNIT tweaks_server_held_bytes bytes\n", "tweaks_server_memory_limit_bytes 99\n",
            "tweaks_server_limits_hit_total{limit=\"sessions\"} 2\n",
        ] { #expect(written.contains(line), "\(line)") }
    }
}
