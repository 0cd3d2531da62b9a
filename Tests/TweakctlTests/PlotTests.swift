// Tests `plot`: the chart in Braille, and what the command prints of a process.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite struct PlotTests {
    private static func plot(_ values: [Double?], _ lower: Double? = nil, _ upper: Double? = nil) -> Plot {
        let points = values.enumerated().compactMap { second, value in
            value.map { Plot.Point(time: Int64(second) * 1_000, value: $0) }
        }
        return Plot(
            points: points, lower: lower, upper: upper, end: Int64(values.count - 1) * 1_000,
            length: Int64(max(values.count - 1, 1)) * 1_000, gap: 1_500
        ) { TweakValue.number($0).text }
    }

    /// (values, one each second; declared bounds; the lines of ten columns and five rows)
    @Test(
        arguments: [
            ([], nil, nil, []),
            // Up and down, between the extremes.
            (
                [0, 4, 8, 4, 0], nil, nil,
                ["8 ┤  ⢀⠎⢆", "  │ ⡠⠃ ⠈⢆", "0 ┤⡰⠁   ⠈⢆", "  └───────", "   4 s ago"]
            ),
            // A constant is in the middle.
            ([5, 5], nil, nil, ["6 ┤", "  │⠤⠤⠤⠤⠤⠤⠤", "4 ┤", "  └───────", "   1 s ago"]),
            // Declared bounds are the scale; values beyond them are at the edge.
            ([0, 20], 0, 10, ["10 ┤    ⡠⠊", "   │  ⡠⠊", " 0 ┤⡠⠊"]),
            // A gap is not crossed; a value alone is a dot.
            ([8, 8, nil, nil, 0], nil, nil, ["8 ┤⠉⠉", "  │", "0 ┤      ⢀"]),
        ] as [([Double?], Double?, Double?, [String])])
    func valuesAreDrawn(_ values: [Double?], _ lower: Double?, _ upper: Double?, _ lines: [String]) {
        let drawn = Self.plot(values, lower, upper).lines(columns: 10, rows: 5)
        #expect(drawn.starts(with: lines), "\(drawn.joined(separator: "\n"))")
        #expect(drawn.allSatisfy { $0.count <= 10 })
    }

    /// No number traps, and no width.
    @Test(
        arguments: [
            [Double.greatestFiniteMagnitude, -Double.greatestFiniteMagnitude], [Double.leastNonzeroMagnitude, 0],
            [-0.0, 0], [1e308, 1e308],
        ], [0, 3, 8, 80, 1_000])
    func extremesAreDrawn(_ values: [Double], _ columns: Int) {
        for rows in [0, 2, 3, 40] {
            let lines = Self.plot(values).lines(columns: columns, rows: rows)
            #expect(lines.isEmpty || lines.count == rows)
        }
    }

    private static func answer(_ json: String) -> Answer { Answer(body: [], status: json, isRefusal: false) }

    /// (answer of a process, the first line; nil where it has no value)
    @Test(
        arguments: [
            (
                #"{"ok":true,"path":"A/B/C","kind":"number","period":1,"now":"2026-11-21T09:30:00Z","unit":"fps","samples":[{"time":"2026-11-21T09:29:59Z","value":12.34567},{"time":"2026-11-21T09:30:00Z","value":60}]}"#,
                "A/B/C = 60 fps   lowest 12.35, highest 60"
            ),
            (
                #"{"path":"A/B/C","kind":"duration","samples":[{"time":"2026-11-21T09:29:59Z","value":"1.23456s"}]}"#,
                "A/B/C = 1.235s   lowest 1.235s, highest 1.235s"
            ),
            (
                #"{"path":"A/B/C","kind":"int","samples":[{"time":"2026-11-21T09:29:59Z","value":123456}]}"#,
                "A/B/C = 123500   lowest 123500, highest 123500"
            ),
            (#"{"path":"A/B/C","kind":"number","samples":[]}"#, nil), (#"{}"#, nil),
            (#"{"samples":[5,{"time":"now","value":1},{"time":"2026-11-21T09:29:59Z","value":"x"}]}"#, nil),
            (#"{"samples":[{"time":"2026-11-21T09:29:59Z","value":1e999}]}"#, nil),
            (
                #"{"path":"\u001b[2J","min":1e999,"max":-5,"period":99999999999999999999,"now":"9999-01-01T00:00:00Z","samples":[{"time":"0000-01-01T00:00:00Z","value":1}]}"#,
                "�[2J = 1   lowest 1, highest 1"
            ),
        ] as [(String, String?)])
    func answersOfAnyProcessAreDrawn(_ json: String, _ title: String?) {
        let samples = FigureSamples(Self.answer(json), 300)
        #expect(samples?.lines(columns: 80, rows: 10).first == title)
        #expect(samples?.lines(columns: 80, rows: 10).count == (title == nil ? nil : 11))
    }
}

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct PlotCommandTests {
    private let fixture: TweakctlFixture

    init() throws { fixture = try TweakctlFixture() }

    @Test func theValuesOfAProcessAreDrawn() throws {
        try fixture.server("bounce")
        let empty = try fixture.run("bounce", "plot", "Player/Status/Frames")
        #expect(empty.hasError("there are no values of “Player/Status/Frames” in the last 300 s", code: 1))
        let watcher = try fixture.start(["bounce", "watch", "Content/Text/Size"])
        // The sample is taken in the turn that replies, before the next request.
        try watcher.lines(through: "Content/Text/Size = 60")
        let plot = try fixture.run("bounce", "plot", "Player/Status/Frames", "--seconds", "60")
        #expect(plot.output.hasPrefix("Player/Status/Frames = 0   lowest 0, highest 0\n"), "\(plot)")
        let json = try fixture.run("--json", "bounce", "plot", "Player/Status/Frames")
        #expect(json.output.hasPrefix(#"{"ok":true,"path":"Player/Status/Frames","kind":"number","period":1,"#))
    }

    @Test(
        arguments: [
            (["plot"], 2, "plot: name one figure"), (["plot", "A/B/C", "D/E/F"], 2, "plot: name one figure"),
            (["plot", "A/B/C", "--seconds"], 2, "--seconds needs a number"),
            (["plot", "A/B/C", "--seconds", "0"], 2, "--seconds needs a number"),
            (["plot", "A/B/C", "--second", "5"], 2, "did you mean --seconds?"),
            (["plot", "Content/Text/Size"], 1, "plot: unknown-tweak: Content/Text/Size is not a figure with samples"),
            (["plot", "Player/Status/Frames", "--seconds", "1801"], 1, "plot: usage: samples reach back 1 to 1800"),
        ])
    func aRefusalNamesTheRemedy(_ words: [String], _ code: Int32, _ text: String) throws {
        try fixture.server("bounce")
        let result = try fixture.run(["bounce"] + words)
        #expect(result.code == code && result.errors.contains(text) && result.output == "", "\(result)")
    }
}
