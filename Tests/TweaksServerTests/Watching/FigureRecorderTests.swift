// Tests the samples that are kept of figures: two rates, gaps, and the bounds of figures and bytes.

import Testing
import Tweaks

@testable import TweaksServer

@Suite struct FigureRecorderTests {
    private let registry = TweakRegistry()
    private let start = Moment.now

    private func figure(_ name: String, _ value: Double = 0) throws -> TweakNode {
        _ = Tweak("A", "B", name, value, flags: .readOnly, registry: registry)
        return try #require(registry["A/B/\(name)"]).node
    }

    private func recorder(figures: Int = 10, bytes: Int = 1_000_000) -> FigureRecorder {
        FigureRecorder(start, figures: figures, bytes: bytes)
    }

    /// Samples the numbers, one each second from a second on; nil for no value.
    private func sample(_ recorder: inout FigureRecorder, _ numbers: [Double?], from second: Int = 0) {
        for (offset, number) in numbers.enumerated() {
            recorder.sample(at: start + .seconds(second + offset)) { _ in number.map { .number($0) } }
        }
    }

    /// The samples as `second: value`, or `second: value low…high`.
    private func text(_ samples: [FigureRecorder.Sample], _ rate: FigureRecorder.Rate) -> [String] {
        samples.map { sample in
            let second = Int((sample.time - start) / .seconds(1))
            let value = "\(second): \(Int(sample.value))"
            return rate == .second ? value : value + " \(Int(sample.low))…\(Int(sample.high))"
        }
    }

    // MARK: Rates

    @Test(
        arguments: [
            ([], [], []), ([5], ["0: 5"], ["0: 5 5…5"]),
            ([1, 9, 3, 4, 5, 2], ["0: 1", "1: 9", "2: 3", "3: 4", "4: 5", "5: 2"], ["5: 2 1…9"]),
            // A span of its own begins with the seventh second.
            (
                [1, 1, 1, 1, 1, 1, 7, -7],
                ["0: 1", "1: 1", "2: 1", "3: 1", "4: 1", "5: 1", "6: 7", "7: -7"], ["5: 1 1…1", "7: -7 -7…7"]
            ),
            // A second without a value is a gap at one second; a span keeps its other values.
            ([1, nil, 3], ["0: 1", "2: 3"], ["2: 3 1…3"]),
            ([nil, nil], [], []),
        ] as [([Double?], [String], [String])])
    func samplesAreOfSecondsAndOfSpans(_ numbers: [Double?], _ seconds: [String], _ spans: [String]) throws {
        let node = try figure("Rate")
        var recorder = recorder()
        recorder.follow([node]) { _ in false }
        sample(&recorder, numbers)
        #expect(text(recorder.samples(of: node, at: .second, since: start), .second) == seconds)
        #expect(text(recorder.samples(of: node, at: .span, since: start), .span) == spans)
    }

    @Test func threeHundredOfEachRateStay() throws {
        let node = try figure("Rate")
        var recorder = recorder()
        recorder.follow([node]) { _ in false }
        let count = 301 * 6
        sample(&recorder, (0..<count).map { Double($0) })
        let seconds = recorder.samples(of: node, at: .second, since: start)
        #expect(seconds.count == 300 && text(seconds, .second).first == "1506: 1506")
        #expect(text(seconds, .second).last == "1805: 1805")
        let spans = recorder.samples(of: node, at: .span, since: start)
        #expect(spans.count == 300 && text(spans, .span).first == "11: 11 6…11")
        #expect(text(spans, .span).last == "1805: 1805 1800…1805")
        let last = recorder.samples(of: node, at: .second, since: start + .seconds(1_800))
        #expect(text(last, .second).first == "1800: 1800" && last.count == 6)
    }

    @Test(arguments: [(1, 1), (300, 1), (301, 6), (1_800, 6)])
    func theTimeDecidesTheRate(_ seconds: Int64, _ rate: Int64) {
        #expect(FigureRecorder.Rate(reaching: seconds).rawValue == rate)
    }

    /// (when samples are taken, when the next one is due after each)
    @Test(arguments: [([0.0, 1.2, 2.1], [1.0, 2, 3]), ([0, 0.4], [1, 2]), ([0, 60, 61], [1, 61, 62])])
    func theNextSampleKeepsItsPaceOrBeginsAgain(_ times: [Double], _ due: [Double]) throws {
        var recorder = recorder()
        recorder.follow([try figure("Rate")]) { _ in false }
        #expect(recorder.nextSample == start)
        for (time, next) in zip(times, due) {
            recorder.sample(at: start + .seconds(time)) { _ in nil }
            #expect((recorder.nextSample - start) / .seconds(1) == next)
        }
    }

    /// What was not sampled is a gap between two times, not a value.
    @Test func aPauseIsAGap() throws {
        let node = try figure("Rate")
        var recorder = recorder()
        recorder.follow([node]) { _ in false }
        sample(&recorder, [1, 2])
        sample(&recorder, [8], from: 60)
        #expect(text(recorder.samples(of: node, at: .second, since: start), .second) == ["0: 1", "1: 2", "60: 8"])
        #expect(text(recorder.samples(of: node, at: .span, since: start), .span) == ["1: 2 1…2", "60: 8 8…8"])
    }

    // MARK: Figures

    @Test func onlyNumbersAndDurationsAreFigures() throws {
        _ = Tweak("A", "B", "Text", "", flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "Switch", true, flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "Secret", 5, flags: [.readOnly, .secret], registry: registry)
        _ = Tweak("A", "B", "Setting", 5, registry: registry)
        _ = Tweak("A", "B", "Time", Duration.seconds(2), flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "Whole", 5, flags: .readOnly, registry: registry)
        let names = registry.listing().nodes.filter(\.isNumericFigure).map(\.path.name)
        #expect(names == ["Time", "Whole"])
    }

    /// A new figure has no values of earlier; one that stays keeps its own; one that went has none.
    @Test func figuresComeAndGo() throws {
        let (one, two, three) = (try figure("One"), try figure("Two"), try figure("Three"))
        var recorder = recorder()
        recorder.follow([one, two]) { _ in false }
        sample(&recorder, [1])
        recorder.follow([three, two]) { _ in false }
        sample(&recorder, [2], from: 1)
        let shown = [one, two, three].map {
            text(recorder.samples(of: $0, at: .second, since: start), .second)
        }
        #expect(shown == [[], ["0: 1", "1: 2"], ["1: 2"]])
    }

    /// (the maximum of figures, the maximum of bytes, the recorded ones of four, of which the last two are watched)
    @Test(
        arguments: [
            (4, 1_000_000, ["One", "Two", "Three", "Four"]), (3, 1_000_000, ["Three", "Four"]),
            (1, 1_000_000, ["Three"]), (4, 20_000, ["Three", "Four"]), (4, 9_000, []), (0, 0, []), (-1, -1, []),
        ])
    func beyondTheBoundsOnlyWatchedFiguresAreRecorded(_ figures: Int, _ bytes: Int, _ names: [String]) throws {
        let nodes = try ["One", "Two", "Three", "Four"].map { try figure($0) }
        var recorder = recorder(figures: figures, bytes: bytes)
        recorder.follow(nodes) { ["Three", "Four"].contains($0.path.name) }
        sample(&recorder, [1])
        let recorded = nodes.filter { !recorder.samples(of: $0, at: .second, since: start).isEmpty }
        #expect(recorded.map(\.path.name) == names)
        #expect(recorder.isFull == (names.count < 4))
        #expect(recorder.memorySize <= max(bytes, 0) + 10_000)
    }

    @Test func itHoldsNothingBeforeItFollows() throws {
        var recorder = recorder(figures: 1_024, bytes: 16_777_216)
        #expect(recorder.memorySize == 0 && recorder.isEmpty)
        recorder.follow(try (0..<1_024).map { try figure("F\($0)") }) { _ in false }
        #expect((9_000_000...16_777_216).contains(recorder.memorySize) && !recorder.isFull)
    }

    // MARK: Values

    /// (kind of the figure, number, text of its value)
    @Test(
        arguments: [
            ("Number", 59.94, "59.94"), ("Whole", 24, "24"), ("Whole", 0x1p63, "9223372036854775808"),
            ("Whole", 0x1p64, "18446744073709551615"), ("Whole", -0x1p70, "-9223372036854775808"),
            ("Time", 250_000_000, "250ms"), ("Time", 0x1p63, "2562047h47m16.854775807s"),
        ])
    func aSampleIsShownAsTheFigureIs(_ name: String, _ number: Double, _ text: String) throws {
        _ = Tweak("A", "B", "Number", 0.0, flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "Whole", 0, flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "Time", Duration.zero, flags: .readOnly, registry: registry)
        let node = try #require(registry["A/B/\(name)"]).node
        #expect(node.value(ofSample: number).text == text)
    }

    /// What is published is what is kept, for each kind.
    @Test(
        arguments: [
            (TweakValue.int(-3), TweakKind.int), (.number(2.5), .number), (.duration(.milliseconds(1_500)), .duration),
        ])
    func valuesOfAllKindsAreKept(_ value: TweakValue, _ kind: TweakKind) throws {
        _ = Tweak("A", "B", "int", 0, flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "number", 0.0, flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "duration", Duration.zero, flags: .readOnly, registry: registry)
        let node = try #require(registry["A/B/\(kind.rawValue)"]).node
        var recorder = recorder()
        recorder.follow([node]) { _ in false }
        recorder.sample(at: start) { _ in value }
        let sample = try #require(recorder.samples(of: node, at: .second, since: start).first)
        #expect(node.value(ofSample: sample.value) == value)
    }
}
