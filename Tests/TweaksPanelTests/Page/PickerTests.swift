// Tests the color picker: its fields, chips, contrast and eyedropper, and that it is one step with an old color.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct PickerTests {
    private static func tweaks() -> TweakRegistry {
        let registry = TweakRegistry()
        for (name, color) in [("Color", TweakColor.red), ("Ink", .white), ("Sky", .blue)] {
            _ = Tweak("Kinds", "Basic", name, color, registry: registry)
        }
        _ = Tweak("Kinds", "Basic", "Key", TweakColor.black, flags: .secret, registry: registry)
        return registry
    }

    private static func color(_ code: UInt32) -> TweakValue { .color(TweakColor(code)) }

    // MARK: Steps

    @Test func allItsChangesAreOneStep() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try page.openPicker()
            try page.keys(.down, .down, .left)
            try page.browser.element("#picker [data-part=hue]").click()
            try page.pickerField("hex", type: "#123456", .enter)
            try host.wait("Color", Self.color(0x123456))
            try page.browser.element("#picker .colors [title*=Sky]").click()
            try host.wait("Color", Self.color(0x0000FF))
            try page.closePicker()
            try page.wait("!row('Color').row.sender.isBusy")
            #expect(host.registry.history.count { $0.kind == .change } == 1)
            try page.step("undo", sets: "Color", to: Self.color(0xFF0000))
        }
    }

    @Test func escapeRestoresTheOldColorAndLeavesNoStep() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try page.openPicker()
            try page.keys(.down, .down)
            try page.pickerField("hex", type: "#123456", .enter)
            try host.wait("Color", Self.color(0x123456))
            try page.keys(.escape)
            try page.wait("!isShown(byID('picker'))")
            try host.wait("Color", Self.color(0xFF0000))
            try page.wait("!row('Color').row.sender.isBusy")
            #expect(host.registry.history.isEmpty)
            #expect(host.registry["Kinds/Basic/Color"]?.isModified == false)
        }
    }

    /// What another client sets while it is open is what Escape comes back to.
    @Test func itFollowsOthers() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try page.openPicker()
            // A pointer over the control would keep it from following.
            try page.browser.perform(.mouse(.move(to: page.element("search"))))
            try host.set("Color", "#008000")
            try page.wait("part('Color', 'hex-field').value === '#008000'")
            try page.expect("part('Color', 'old').title === 'Back to #008000FF'")
            try page.pickerField("hex", type: "#123456", .enter)
            try host.wait("Color", Self.color(0x123456))
            try page.keys(.escape)
            try host.wait("Color", Self.color(0x008000))
            // The page follows a moment later, and would replace what is typed.
            try page.wait("part('Color', 'hex-field').value === '#008000'")
            // The old half does the same.
            try page.openPicker()
            try page.pickerField("hex", type: "#123456", .enter)
            try host.wait("Color", Self.color(0x123456))
            try page.browser.element("#picker [data-part=old]").click()
            try host.wait("Color", Self.color(0x008000))
        }
    }

    // MARK: Fields

    @Test(
        arguments: [
            ("RGB", ["255", "136", "0", "100"], "green", "0", 0xFF0000),
            ("HSL", ["32", "100", "50", "100"], "hue", "240", 0x0000FF),
            ("OKLCH", ["74.4", "0.181", "56", "100"], "chroma", "0", 0xACACAC),
            ("HEX", ["100"], "hex", "#0af", 0x00AAFF), ("HEX", ["100"], "hex", "oklch(60% .1 250)", 0x4F84BA),
        ] as [(String, [String], String, String, UInt32)])
    func fieldsShowAndTake(
        _ format: String, _ values: [String], _ part: String, _ text: String, _ color: UInt32
    ) throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try host.set("Color", "#FF8800")
            try page.wait("field('Color') === '#FF8800'")
            try page.openPicker()
            try page.choose(format, of: "format")
            let shown = "[...document.querySelectorAll('#picker .parts input:not([data-part=hex-field])')]"
            #expect(try page.ask("\(shown).map((field) => field.value)") == .array(values.map { .string($0) }))
            try page.pickerField(part, type: text, .enter)
            try host.wait("Color", Self.color(color))
            // Opacity stands beside every format, and the format is remembered.
            try page.pickerField("opacity", type: "50", .enter)
            try host.wait("Color") { $0.description.hasSuffix("80") }
            try page.closePicker()
            try page.openPicker()
            #expect(try page.ask("part('Color', 'format').value") == .string(format))
        }
    }

    @Test func whatIsRefusedIsSaidInThePicker() throws {
        try PanelHost.visit(Self.tweaks(), expecting: [PanelView.refused(400)]) { host, page in
            try page.openPicker()
            try page.pickerField("hex", type: "#12", .enter)
            try page.wait("document.querySelector('#picker .error').textContent.includes('#12')")
            #expect(try page.ask("isShown(document.querySelector('#picker .error'))") == true)
            #expect(host.value("Color") == Self.color(0xFF0000))
            // The first Escape cancels the text.
            try page.keys(.escape)
            try page.wait("part('Color', 'hex-field').value === '#FF0000'")
            try page.expect("isShown(byID('picker'))")
            // A number that is none is not sent.
            try page.choose("RGB", of: "format")
            try page.pickerField("blue", type: "x", .enter)
            try page.wait("part('Color', 'blue-field').value === '0'")
            // One beyond the range is limited.
            try page.pickerField("blue", type: "300", .enter)
            try host.wait("Color", Self.color(0xFF00FF))
        }
    }

    /// Three pixels are a step, ten with Shift; arrow keys do the same.
    @Test func fieldsAreScrubbed() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try page.openPicker()
            try page.choose("RGB", of: "format")
            let green = try page.browser.element("#picker [data-part=green-field]")
            try page.browser.perform(.mouse(.move(to: green), .press, .moveBy(x: 30, y: 0), .release))
            try host.wait("Color", Self.color(0xFF0A00))
            try page.pickerField("blue", type: "", .up, .up)
            try host.wait("Color", Self.color(0xFF0A02))
            // A chroma that the screen does not have stays in its field, so that the way back is the same.
            try page.choose("OKLCH", of: "format")
            try page.pickerField("chroma", type: "0.4", .enter)
            try page.wait("part('Color', 'chroma-field').value === '0.4'")
        }
    }

    // MARK: Chips

    @Test func chipsAreTheColorsOfTheProgramAndOfPresets() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try host.set("Sky", "skyblue")
            _ = try host.connect().ask("save evening")
            try host.set("Sky", "blue")
            try page.wait("field('Sky') === '#0000FF'")
            try page.openPicker()
            let titles = "[...document.querySelectorAll('#picker [aria-label=\"In this program\"] button')]"
            #expect(try page.ask("\(titles).map((chip) => chip.title)") == ["#FFFFFFFF Ink", "#0000FFFF Sky"])
            // One stop of the Tab key; arrows lead on.
            #expect(try page.ask("\(titles).map((chip) => chip.tabIndex)") == [0, -1])
            try page.browser.run("document.querySelector('#picker [title=\"#FFFFFFFF Ink\"]').focus()")
            try page.keys(.right, .enter)
            try host.wait("Color", Self.color(0x0000FF))
            try page.wait("isShown(part('Color', 'palette'))")
            try page.choose("evening", of: "palette")
            let chip = "#picker [aria-label=Palette] [title='#87CEEBFF Sky']"
            try page.wait("document.querySelector(given[0]) != null", .string(chip))
            try page.browser.element(chip).click()
            try host.wait("Color", Self.color(0x87CEEB))
            // The palette is remembered, and the color is a recent one.
            try page.closePicker()
            try page.openPicker()
            try page.wait("document.querySelector(given[0]) != null", .string(chip))
            try page.expect("document.querySelector('#picker .recent [title=\"#87CEEBFF\"]') != null")
            try page.attachPictures("picker")
        }
    }

    // MARK: Contrast

    @Test func theContrastWithAnotherColorIsShownAndDrawn() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try page.openPicker()
            let output = "document.querySelector('#picker .contrast output')"
            #expect(try page.ask("isShown(\(output))") == false)
            try page.choose("Ink", of: "contrast")
            try page.wait("\(output).textContent === '3.99 low'")
            // All points of the line have the ratio, at the hue of red.
            let ratios = """
                [...document.querySelectorAll('#picker .area .line')].flatMap((line) => [...line.points])
                    .map(({ x, y }) => contrast([(1 - y) * 255, ...Array(2).fill((1 - y) * (1 - x) * 255)],
                        [255, 255, 255]))
                """
            #expect(try page.ask("\(ratios).length > 10") == true)
            #expect(try page.ask("\(ratios).every((ratio) => Math.abs(ratio - 4.5) < 0.05)") == true)
            try page.pickerField("hex", type: "#AA0000", .enter)
            try page.wait("\(output).textContent.endsWith('✓')")
            try page.attachPictures("picker-contrast")
        }
    }

    // MARK: Eyedropper

    @Test func theEyedropperKeepsTheOpacity() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try host.set("Color", "#FF000080")
            try page.wait("field('Color') === '#FF000080'")
            // The browser's covers the screen, which no driver can click.
            try page.browser.run(
                "globalThis.EyeDropper = class { async open() { return { sRGBHex: '#0066cc' }; } }")
            try page.openPicker()
            try page.browser.element("#picker [data-part=dropper]").click()
            try host.wait("Color", .color(TweakColor(red8: 0, green8: 0x66, blue8: 0xCC, alpha8: 0x80)))
        }
    }
}

extension PanelView {
    /// Replaces the text of a field of the picker.
    fileprivate func pickerField(_ part: String, type text: String, _ keys: Key...) throws {
        try type(text, over: browser.element("#picker [data-part=\(part)-field]"), then: keys)
    }

    /// Chooses an option of the picker by its text.
    fileprivate func choose(_ text: String, of part: String) throws {
        try browser.run(
            """
            const select = document.querySelector(`#picker [data-part=${arguments[0]}]`);
            select.selectedIndex = [...select.options].findIndex((option) => option.text === arguments[1]);
            select.dispatchEvent(new Event('change', { bubbles: true }));
            """, .string(part), .string(text))
    }

    /// Closes the picker, and keeps its color.
    fileprivate func closePicker() throws {
        try browser.run("document.querySelector('#picker [data-part=area]').focus()")
        try keys(.enter)
        try wait("!isShown(byID('picker'))")
    }
}
