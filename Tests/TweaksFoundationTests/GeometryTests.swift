// Tests numbers and points of CoreGraphics, and measurements.

import Foundation
import Testing
import Tweaks
import TweaksFoundation
import TweaksTestSupport

@Suite(.blocking) struct GeometryTests {
    private let registry = TweakRegistry()

    @Test func cgFloatIsANumber() throws {
        let tweak = Tweak("Kind", "Of", "CGFloat", CGFloat(0.1), in: 0...10, step: 0.1, unit: "pt", registry: registry)
        #expect(tweak.erased.kind == .number && tweak.erased.value == .number(0.1))
        try tweak.erased.set(text: "0.3")
        #expect(tweak.value == 0.3 && tweak.erased.upperBound == .number(10))
        tweak.value = 99
        #expect(tweak.value == 10)
        #expect(throws: TweakError.self) { try tweak.erased.set(text: "11") }
    }

    @Test func pointsAndSizesArePoints() throws {
        let point = Tweak(
            "Kind", "Of", "Point", CGPoint(x: 1, y: 2), in: .init(x: 0...10, y: 0...5), registry: registry)
        try point.erased.set(text: "3.5,4")
        #expect(point.value == CGPoint(x: 3.5, y: 4) && point.erased.kind == .point)
        #expect(throws: TweakError.self) { try point.erased.set(text: "3,6") }
        point.value = CGPoint(x: 99, y: -1)
        #expect(point.value == CGPoint(x: 10, y: 0))
        #expect(throws: TweakError.self) { try point.set(CGPoint(x: CGFloat.nan, y: 0)) }
        let size = Tweak("Kind", "Of", "Size", CGSize(width: 320, height: 200), registry: registry)
        try size.erased.set(text: "640,480")
        #expect(size.value == CGSize(width: 640, height: 480) && "\(size)" == "Kind/Of/Size = 640,480")
        #expect(try registry.register("A", "B", "C", CGSize.zero, in: .init(x: 0..., y: 0...)).value == .zero)
    }

    @Test func propertiesAndCallSitesHoldThem() {
        struct Look {
            @Tweak("Look", "Of", "Offset", in: .init(x: 0...9, y: 0...9)) var offset = CGPoint(x: 1, y: 1)
        }
        #expect(Look().offset == CGPoint(x: 1, y: 1))
        #expect(tweakValue("Call", "Of", "Size", CGSize(width: 1, height: 2), registry: registry).height == 2)
        #expect(tweakValue("Call", "Of", "Width", CGFloat(3), in: 0...5, registry: registry) == 3)
    }
}

@Suite(.blocking) struct MeasurementTests {
    private let registry = TweakRegistry()
    private let radius: Tweak<Measurement<UnitLength>>

    init() {
        radius = Tweak(
            "Map", "Search", "Radius", Measurement(value: 5, unit: .kilometers), in: 0.1...50,
            registry: registry)
    }

    @Test func aMeasurementIsANumberInTheUnitOfItsDefault() throws {
        let client = try TestServer(registry: registry).connect()
        #expect(try client.ask("get Map/Search/Radius")[0].hasSuffix(" # number 0.1...50 km"))
        #expect(try client.ask("set Map/Search/Radius \"7.5 km\"").last == "ok rev 1")
        #expect(radius.value == Measurement(value: 7.5, unit: .kilometers) && radius.value.unit == .kilometers)
        let reply = try client.ask("set Map/Search/Radius 51")
        #expect(reply.first == "error out-of-range Map/Search/Radius: 51 is outside 0.1...50")
        #expect(radius.erased.unit == "km" && radius.erased.kind == .number)
    }

    @Test func theProgramSetsItInAnyUnit() throws {
        try radius.set(Measurement(value: 1_500, unit: .meters))
        #expect(radius.erased.value == .number(1.5) && radius.value.unit == .kilometers)
        radius.value = Measurement(value: 1, unit: .meters)
        #expect(radius.erased.value == .number(0.1))
        try registry.commit { $0.set(radius, Measurement(value: 2_000, unit: .meters)) }
        #expect(radius.value == Measurement(value: 2, unit: .kilometers))
        let seen = Recorder<Measurement<UnitLength>>()
        let observation = radius.observe { seen.note($0.new) }
        try radius.erased.set(text: "3")
        #expect(seen.all.map(\.value) == [3] && seen.all.map(\.unit) == [.kilometers])
        observation.cancel()
        radius.reset()
        #expect(radius.value == radius.defaultValue && radius.defaultValue.value == 5)
    }

    @Test func rangeAndStepAreInTheUnitOfTheDefault() throws {
        let warm = Tweak(
            "Room", "Climate", "Target", Measurement(value: 20.1, unit: UnitTemperature.celsius),
            in: 5.3...30.7, step: 0.1, registry: registry)
        #expect(warm.erased.lowerBound == .number(5.3) && warm.erased.upperBound == .number(30.7))
        #expect(warm.erased.step == .number(0.1) && warm.erased.unit == "°C")
        try warm.erased.set(text: "21.5")
        #expect(warm.value == Measurement(value: 21.5, unit: .celsius))
        #expect(try #require(warm.step).unit == .celsius)
    }

    @Test func itIsRegisteredAndDeclaredAsAProperty() throws {
        struct Map {
            @Tweak("Map", "View", "Height", in: 0...9_000) var height = Measurement(value: 300, unit: UnitLength.meters)
        }
        #expect(Map().height.value == 300)
        let limit = Measurement(value: 50, unit: UnitSpeed.kilometersPerHour)
        let speed = try registry.register("Car", "Limits", "Speed", limit)
        #expect(speed.erased.unit == "km/h")
        let error = #expect(throws: TweakError.self) {
            try registry.register(
                "Car", "Limits", "Height", Measurement(value: 5, unit: UnitLength.meters), in: 1...2)
        }
        let text = "the default of Car/Limits/Height: 5 is outside 1...2; change the default or what is allowed"
        #expect(error?.message == text)
        #expect(throws: TweakError.self) { try speed.set(Measurement(value: .nan, unit: .kilometersPerHour)) }
    }
}
