// Switches, choices, texts, secrets and actions: each changes the process, by mouse and by keyboard.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct ControlTests {
    @Test func switches() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.click("Bool", "switch")
            try host.wait("Bool", .bool(true))
            try page.wait("part('Bool', 'switch').ariaChecked === 'true' && row('Bool').hasAttribute('data-modified')")
            try page.press("Bool", "switch", .space)
            try host.wait("Bool", .bool(false))
            try page.press("Bool", "switch", .enter)
            try host.wait("Bool", .bool(true))
        }
    }

    @Test func aFewChoicesSideBySide() throws {
        let host = try PanelHost()
        try host.visit { page in
            let options = try page.browser.elements(PanelView.selector("Side", "option"))
            #expect(try options.map { try $0.label } == ["left", "center", "right"])
            try page.browser.element(PanelView.selector("Side") + " label:nth-child(3)").click()
            try host.wait("Side", .choice("right"))
            try page.browser.run("arguments[0].focus()", options[2].value)
            try page.browser.perform(.keys(.left))
            try host.wait("Side", .choice("center"))
            try page.wait("row('Side').querySelector(':checked').value === 'center'")
        }
    }

    @Test func manyChoicesInAMenu() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.browser.element(PanelView.selector("Day", "select") + " option:nth-child(3)").click()
            try host.wait("Day", .choice("wed"))
            try page.press("Day", "select", .end)
            try host.wait("Day", .choice("sun"))
            try page.browser.perform(.keyboard(.character("t")))
            try host.wait("Day", .choice("tue"))
        }
    }

    @Test func lines() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.type("by Enter", over: "Text", then: .enter)
            try host.wait("Text", .string("by Enter"))
            // Leaving a field sends it as well; Escape takes back what was typed.
            try page.type("by leaving", over: "Text")
            try page.click("Bool", "switch")
            try host.wait("Text", .string("by leaving"))
            try page.type("never", over: "Text", then: .escape)
            try page.wait("field('Text') === 'by leaving'")
            try page.type("", over: "Text", then: .backspace, .enter)
            try host.wait("Text", .string(""))
            try page.type("“ä\" \\ 🙂 ", over: "Text", then: .enter)
            try host.wait("Text", .string("“ä\" \\ 🙂 "))
        }
    }

    @Test func severalLines() throws {
        let host = try PanelHost()
        try host.visit { page in
            #expect(try page.ask("[part('Poem', 'field').localName, field('Poem')]") == ["textarea", "one\ntwo"])
            try page.press("Poem", "field", .end, holding: [.control])
            try page.browser.perform(.keyboard(.press(.enter), .release(.enter), .character("3")))
            try page.browser.perform(.keys(.enter, holding: [.control]))
            try host.wait("Poem", .string("one\ntwo\n3"))
            // A line becomes several.
            try page.type("first", over: "Text")
            try page.browser.perform(.keys(.enter, holding: [.shift]))
            try page.browser.perform(.keyboard(.character("2")))
            try page.browser.perform(.keys(.enter, holding: [.control]))
            try host.wait("Text", .string("first\n2"))
        }
    }

    /// What is set is nowhere in the page.
    @Test func secrets() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.wait("text('Password', 'value') === 'unset'")
            try page.type("hush-hush", over: "Password", then: .enter)
            try host.wait("Password", .string("hush-hush"))
            try page.wait("text('Password', 'value') === 'set' && field('Password') === ''")
            #expect(try page.ask("document.documentElement.outerHTML.includes('hush')") == false)
            try page.click("Password", "explain")
            try page.wait("row('Password').querySelector('table') != null")
            try page.browser.reload()
            try page.wait("text('Password', 'value') === 'set'")
            #expect(try page.ask("document.documentElement.outerHTML.includes('hush')") == false)
        }
    }

    @Test func actions() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(422)]) { page in
            try page.click("Greet", "run")
            try page.wait("text('Greet', 'result') === 'hello '")
            try page.type("you \"two of\" 'them all'", over: "Greet", "arguments", then: .enter)
            try page.wait("text('Greet', 'result') === 'hello you+two of+them all'")
            try page.type("badly", over: "Greet", "arguments")
            try page.press("Greet", "run", .space)
            #expect(try page.error("Greet").contains("no <manners>"))
            try page.wait("text('Greet', 'result') === ''")
        }
    }

    @Test func actionsThatTakeTheirTime() throws {
        let tweaks = PageTweaks()
        let host = try PanelHost(tweaks.registry)
        try host.visit { page in
            try page.click("Wait", "run")
            try page.wait("part('Wait', 'run').ariaBusy === 'true'")
            // Everything else goes on.
            try page.click("Bool", "switch")
            try host.wait("Bool", .bool(true))
            tweaks.gate.open()
            try page.wait("text('Wait', 'result') === 'waited' && part('Wait', 'run').ariaBusy === 'false'")
        }
    }

    /// A field for each argument that is declared, one for all where nothing is, and none where there are none.
    @Test func argumentsOfActions() throws {
        try PanelHost().visit { page in
            let made = try page.ask(
                """
                import(document.querySelector("link[href$='/controls/arguments.js']").href).then(({ argumentFields }) => {
                    const of = (list) => argumentFields({ label: 'Play', tweak: { arguments: list } });
                    const read = (fields, ...texts) => {
                        const inputs = fields.elements.map((element) => element.querySelector('input, select'));
                        texts.forEach((text, index) => { inputs[index].value = text; });
                        try { return fields.read(); } catch (error) { return error.message; }
                    };
                    const play = of([{ name: 'file', kind: 'string' }, { name: 'loud', kind: 'bool', default: false },
                        { name: 'volume', kind: 'number', min: 0, max: 1, default: 0.5 }]);
                    const names = play.elements.map((element) => element.textContent.slice(0, 4));
                    return [names, read(play), read(play, 'a b'), read(play, 'a', '', '0.7'), read(play, 'a', 'true', ''),
                        of([]).elements.length, of([]).read(), read(of(undefined), 'one "two three"')];
                })
                """)
            #expect(
                made == [
                    ["file", "loud", "volu"], "file is missing; fill it in", ["a b"], ["a", "false", "0.7"],
                    ["a", "true"], 0, [], ["one", "two three"],
                ])
        }
    }
}
