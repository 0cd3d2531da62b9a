// Compiles the forms of observing and binding, and checks the compiler's errors for the invalid ones.

import Testing
import TweaksTestSupport

@Suite(.enabled(if: SwiftCompiler.isAvailable, SwiftCompiler.missing)) struct ObservingSourceTests {
    private static let preamble = """
        import Tweaks
        enum Look {
            static let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100)
        }
        final class Lamp { var level = 0.0 }

        """

    @Test func validObserversAndBindingsCompile() throws {
        let errors = try SwiftCompiler.errors(
            in: Self.preamble + """
                @MainActor final class Preview {
                    var size = 0.0
                    let lamp = Lamp()
                    var observation: TweakObservation?
                    func follow() {
                        observation = Look.size.observe { [weak self] change in self?.size = change.new }
                        Look.size.bind(to: self, \\.size)
                        Look.size.bind(to: lamp, \\.level, when: .onChange)
                        tweakBind(lamp, \\.level, "Content", "Text", "Level", 0.5, in: 0...1)
                    }
                }
                actor Studio {
                    var size = 0.0
                    let lamp = Lamp()
                    var observation: TweakObservation?
                    func follow() {
                        observation = Look.size.observe { change in self.size = change.new }
                        Look.size.bind(to: lamp, \\.level)
                    }
                }
                func follow() -> [TweakObservation] {
                    let handler: @Sendable (TweakChange<Double>) -> Void = { print($0.new) }
                    return [
                        Look.size.observe { print($0.new) }, Look.size.observe(handler),
                        Look.size.observe { @MainActor change in print(change.new) },
                    ]
                }
                """)
        #expect(errors == [])
    }

    @Test(arguments: [
        #"Look.size.bind(to: lamp, \.level)"#,
        #"tweakBind(lamp, \.level, "Content", "Text", "Level", 0.5)"#,
        #"tweakBind(lamp, \.level, "Content", "Text", "Level", 0.5, in: 0...1)"#,
        #"tweakBind(lamp, \.level, "Content", "Text", "Level", 0.5, choices: [0.5: "half", 1: "whole"])"#,
    ])
    func bindingAnObjectThatIsNotSendableNeedsItsActor(_ call: String) throws {
        let errors = try SwiftCompiler.errors(in: Self.preamble + "func follow(_ lamp: Lamp) { \(call) }")
        #expect(errors.contains { $0.contains("expected argument type 'ActorOfNonSendableObject'") }, "\(errors)")
    }

    @Test func anObserverOutsideAnActorMayNotCaptureAnObjectThatIsNotSendable() throws {
        let function = "func follow(_ lamp: Lamp) -> TweakObservation { Look.size.observe { lamp.level = $0.new } }"
        let errors = try SwiftCompiler.errors(in: Self.preamble + function)
        #expect(errors.contains { $0.contains("'Lamp'") && $0.contains("Sendable") }, "\(errors)")
    }
}
