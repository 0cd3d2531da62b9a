// Tests the editors of curves, springs and shadows: handles, named curves, one step for all parts, and the replay.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct MotionPageTests {
    private final class Program {
        let registry = TweakRegistry()
        let ease: TweakGroup<TweakEase>
        let spring: TweakGroup<TweakSpring>
        let shadow: TweakGroup<TweakShadow>

        init() {
            _ = Tweak("Kinds", "Basic", "Curve", TweakCurve(0.2, 0, 0, 1), registry: registry)
            ease = TweakGroup("Kinds", "Basic", "Ease", TweakEase.inOut, registry: registry)
            spring = TweakGroup(
                "Kinds", "Basic", "Spring", TweakSpring(response: .milliseconds(500), dampingFraction: 0.5),
                registry: registry)
            shadow = TweakGroup("Kinds", "Basic", "Shadow", TweakShadow(y: 4), registry: registry)
        }
    }

    private func visit(_ body: (Program, PanelHost, PanelView) throws -> Void) throws {
        let program = Program()
        try PanelHost.visit(program.registry) { host, page in try body(program, host, page) }
    }

    private static let curve = "Kinds/Basic/Curve"

    // MARK: Curves

    @Test func keysMoveTheHandlesOfACurve() throws {
        try visit { _, host, page in
            try page.openEditor(Self.curve)
            try page.expect("document.activeElement.dataset.part === 'handle-1'")
            try page.keys(.right, sets: Self.curve, to: .curve(TweakCurve(0.21, 0, 0, 1)))
            try page.keys(.up, holding: [.shift], sets: Self.curve, to: .curve(TweakCurve(0.21, 0.1, 0, 1)))
            try page.wait("document.querySelector('#motion output').textContent === 'cubic-bezier(0.21,0.1,0,1)'")
            // A time is from 0 to 1.
            try page.focusInEditor("handle-2")
            try page.keys(.left, .down, sets: Self.curve, to: .curve(TweakCurve(0.21, 0.1, 0, 0.99)))
            try page.keys(.enter)
            try page.wait("!isShown(byID('motion'))")
            try page.waitUntilQuiet()
            #expect(host.registry.history.count { $0.kind == .change } == 1)
            try page.step("undo", sets: Self.curve, to: .curve(TweakCurve(0.2, 0, 0, 1)))
        }
    }

    @Test func aNamedCurveIsChosenAndEscapeComesBack() throws {
        try visit { _, host, page in
            try page.openEditor(Self.curve)
            #expect(try page.ask("document.querySelectorAll('#motion .curves button').length") == 12)
            try page.browser.element("#motion [aria-label='ease-in']").click()
            try host.wait(Self.curve, .curve(.easeIn))
            try page.wait("field('\(Self.curve)') === '0.42,0,1,1'")
            try page.attachPictures("motion-curve")
            try page.keys(.escape)
            try page.wait("!isShown(byID('motion'))")
            try host.wait(Self.curve, .curve(TweakCurve(0.2, 0, 0, 1)))
            try page.waitUntilQuiet()
            #expect(host.registry.history.isEmpty)
            // Steps have no handles.
            try host.set(Self.curve, "steps(4,start)")
            try page.wait("field('\(Self.curve)') === 'steps(4,start)'")
            try page.openEditor(Self.curve)
            try page.expect("!isShown(document.querySelector('#motion [data-part=handle-1]'))")
            try page.keys(.escape)
            // The field takes the numbers alone.
            try page.type(".3, 0, .1, 1", over: Self.curve, then: .enter, sets: .curve(TweakCurve(0.3, 0, 0.1, 1)))
        }
    }

    /// A key changes one number; the others keep their digits, also beyond what a drag reaches.
    @Test func aKeyChangesOneNumberOnly() throws {
        try visit { program, host, page in
            try host.set(Self.curve, "cubic-bezier(0.3333,5,0.6667,0.12345)")
            try page.wait("field('\(Self.curve)') === '0.3333,5,0.6667,0.12345'")
            try page.openEditor(Self.curve)
            let next = TweakCurve(0.34, 5, 0.6667, 0.12345)
            try page.keys(.right, sets: Self.curve, to: .curve(next))
            try page.keys(.enter)
            let response = "Kinds/Basic/Spring response"
            program.spring.value.response = .microseconds(628_318)
            try page.wait("field('\(response)') === '628.318ms'")
            try page.openEditor(response)
            try page.keys(.up, sets: "Kinds/Basic/Spring damping fraction", to: .number(0.49))
            try page.waitUntilQuiet()
            #expect(program.spring.value.response == .microseconds(628_318))
        }
    }

    // MARK: Groups

    @Test func aHandleMovesTwoPartsInOneStep() throws {
        try visit { program, host, page in
            let first = "Kinds/Basic/Ease x1"
            try page.openEditor(first)
            // Only the first row of a group has the picture.
            #expect(try page.ask("document.querySelectorAll('.row .name .picture').length") == 3)
            try page.dragInEditor("handle-2", x: -24, y: 20)
            try page.waitUntilQuiet()
            try page.keys(.enter)
            try page.waitUntilQuiet()
            #expect(program.ease.value.x2 < 0.55)
            #expect(program.ease.value.y2 < 1)
            #expect(host.registry.history.count { $0.kind == .change } == 1)
            try page.step("undo", saying: "and 1 more")
            #expect(program.ease.value == .inOut)
        }
    }

    @Test func escapeInADragRestoresAllParts() throws {
        try visit { program, host, page in
            try page.openEditor("Kinds/Basic/Ease x1")
            try page.dragInEditor("handle-1", x: 30, y: -30, isReleased: false)
            try host.wait("Kinds/Basic/Ease y1") { $0 != .number(0) }
            try page.keys(.escape)
            try host.wait("Kinds/Basic/Ease y1", .number(0))
            try host.wait("Kinds/Basic/Ease x1", .number(0.42))
            try page.browser.perform(.mouse(.release))
            try page.waitUntilQuiet()
            #expect(program.ease.value == .inOut)
            #expect(host.registry.history.isEmpty)
        }
    }

    @Test func aSpringIsShapedByItsPeak() throws {
        try visit { program, host, page in
            let damping = "Kinds/Basic/Spring damping fraction"
            try page.openEditor("Kinds/Basic/Spring response")
            let output = "document.querySelector('#motion output').textContent"
            // The overshoot of a damping of a half is e^(-π/√3).
            try page.wait("\(output) === 'overshoot 16%, settles in 643 ms'")
            try page.attachPictures("motion-spring")
            try page.keys(.up, sets: damping, to: .number(0.49))
            try page.keys(.right, sets: "Kinds/Basic/Spring response", to: .duration(.milliseconds(510)))
            // Down to the target: no overshoot.
            try page.dragInEditor("peak", x: 0, y: 60)
            try host.wait(damping, .number(1))
            try page.wait("\(output).startsWith('overshoot 0.0%')")
            // The end of the drag is sent, too.
            try page.waitUntilQuiet()
            // What others set is shown.
            _ = try host.connect().ask("set \"\(damping)\" 0")
            try page.wait("\(output) === 'overshoot 100%, never settles'")
        }
    }

    @Test func aCardShowsItsShadowAndIsMoved() throws {
        try visit { _, host, page in
            try page.openEditor("Kinds/Basic/Shadow color")
            let shadow = "document.querySelector('#motion [data-part=card]').style.boxShadow"
            try page.wait("\(shadow).includes('0px 4px 4px')")
            try page.keys(.down, .right, holding: [], sets: "Kinds/Basic/Shadow x", to: .number(1))
            try host.wait("Kinds/Basic/Shadow y", .number(5))
            try page.wait("\(shadow).includes('1px 5px 4px')")
            try page.attachPictures("motion-shadow")
        }
    }

    /// Escape comes back from the own changes only.
    @Test func whatOthersSetMeanwhileStays() throws {
        try visit { _, host, page in
            try page.openEditor("Kinds/Basic/Shadow color")
            try page.keys(.right, sets: "Kinds/Basic/Shadow x", to: .number(1))
            try page.waitUntilQuiet()
            _ = try host.connect().ask("set \"Kinds/Basic/Shadow color\" red")
            try page.wait("field('Kinds/Basic/Shadow color') === '#FF0000'")
            try page.keys(.escape)
            try host.wait("Kinds/Basic/Shadow x", .number(0))
            try page.waitUntilQuiet()
            #expect(host.value("Kinds/Basic/Shadow color") == .color(.red))
        }
    }

    /// A row that is declared anew takes its open editor with it, and no change after that is a part of it.
    @Test func theEditorOfARemovedRowIsClosed() throws {
        try visit { program, host, page in
            try page.openEditor("Kinds/Basic/Shadow color")
            try page.keys(.right, sets: "Kinds/Basic/Shadow x", to: .number(1))
            try page.browser.run("location.hash = '#/Kinds/Basic/Curve'")
            try page.wait("!isShown(byID('motion'))")
            try page.wait("[...document.querySelectorAll('.row')].every(({ row }) => row.editing == null)")
        }
    }

    private struct Curve: TweakTemplate {
        var speed = 1.0
        static let parts: [TweakPart<Curve>] = [TweakPart("speed", \.speed)]
    }

    /// A template of the program is no curve of ours, though it has the name.
    @Test func aTemplateOfTheProgramMayHaveAnyName() throws {
        let registry = TweakRegistry()
        let group = TweakGroup("Kinds", "Basic", "Way", Curve(), registry: registry)
        try PanelHost.visit(registry) { host, page in
            try page.wait("field('Kinds/Basic/Way speed') === '1'")
            try page.expect("document.querySelector('.picture') == null")
            #expect(group.value == Curve())
        }
    }

    @Test func reducedMotionShowsStillPositions() throws {
        try visit { _, _, page in
            try page.browser.command(
                "Emulation.setEmulatedMedia",
                ["features": [["name": "prefers-reduced-motion", "value": "reduce"]]])
            try page.openEditor(Self.curve)
            try page.wait("document.querySelectorAll('#motion .track i').length === 9")
            try page.expect("document.getAnimations().length === 0")
        }
    }
}

extension PanelView {
    fileprivate func openEditor(_ name: String) throws {
        try click(name, "edit")
        try wait("isShown(byID('motion'))")
    }

    /// Waits until no drag is under way, and all changes are answered.
    fileprivate func waitUntilQuiet() throws {
        try wait("[...document.querySelectorAll('.row')].every(({ row }) => !row.drag && !row.sender.isBusy)")
    }

    fileprivate func focusInEditor(_ part: String) throws {
        try browser.run("document.querySelector(`#motion [data-part=${arguments[0]}]`).focus()", .string(part))
    }

    fileprivate func dragInEditor(_ part: String, x: Double, y: Double, isReleased: Bool = true) throws {
        let handle = try browser.element("#motion [data-part=\(part)]")
        let steps: [PointerStep] = [.move(to: handle), .press, .moveBy(x: x, y: y, over: .milliseconds(100))]
        try browser.perform(.mouse(steps + (isReleased ? [.release] : [])))
    }
}
