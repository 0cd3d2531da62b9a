// Tests switches, choices, texts, secrets and actions, by mouse and by keyboard.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct ControlTests {
    @Test func switchesAndChoicesAreSetByMouseAndKeyboard() throws {
        try PanelHost.visit { host, page in
            try page.click("Bool", "switch", sets: .bool(true))
            try page.wait("part('Bool', 'switch').ariaChecked === 'true' && row('Bool').hasAttribute('data-modified')")
            try page.press("Bool", "switch", .space, sets: .bool(false))
            try page.press("Bool", "switch", .enter, sets: .bool(true))
            // A few choices, side by side.
            let options = try page.browser.elements(PanelView.selector("Side", "option"))
            #expect(try options.map { try $0.label } == ["left", "center", "right"])
            try page.browser.element(PanelView.selector("Side") + " label:nth-child(3)").click()
            try host.wait("Side", .choice("right"))
            try page.browser.run("arguments[0].focus()", options[2].value)
            try page.keys(.left, sets: "Side", to: .choice("center"))
            try page.wait("row('Side').querySelector(':checked').value === 'center'")
            // Many choices, in a menu.
            try page.browser.element(PanelView.selector("Day", "select") + " option:nth-child(3)").click()
            try host.wait("Day", .choice("wed"))
            try page.press("Day", "select", .end, sets: .choice("sun"))
            try page.browser.perform(.keyboard(.character("t")))
            try host.wait("Day", .choice("tue"))
        }
    }

    @Test func textsOfOneAndOfSeveralLinesAreEdited() throws {
        try PanelHost.visit { host, page in
            try page.type("by Enter", over: "Text", then: .enter, sets: .string("by Enter"))
            // Leaving a field sends it as well; Escape discards the typed text.
            try page.type("by leaving", over: "Text")
            try page.click("Bool", "switch")
            try host.wait("Text", .string("by leaving"))
            try page.type("never", over: "Text", then: .escape)
            try page.wait("field('Text') === 'by leaving'")
            try page.type("", over: "Text", then: .backspace, .enter, sets: .string(""))
            try page.type("“ä\" \\ 🙂 ", over: "Text", then: .enter, sets: .string("“ä\" \\ 🙂 "))
            #expect(try page.ask("[part('Poem', 'field').localName, field('Poem')]") == ["textarea", "one\ntwo"])
            try page.press("Poem", "field", .end, holding: [.control])
            try page.browser.perform(.keys(.enter), .keyboard(.character("3")), .keys(.enter, holding: [.control]))
            try host.wait("Poem", .string("one\ntwo\n3"))
            // A line becomes several.
            try page.type("first", over: "Text")
            try page.browser.perform(.keys(.enter, holding: [.shift]), .keyboard(.character("2")))
            try page.keys(.enter, holding: [.control], sets: "Text", to: .string("first\n2"))
        }
    }

    @Test func aSecretIsNowhereInThePage() throws {
        try PanelHost.visit { host, page in
            try page.wait("text('Password', 'value') === 'unset'")
            try page.type("hush-hush", over: "Password", then: .enter, sets: .string("hush-hush"))
            try page.wait("text('Password', 'value') === 'set' && field('Password') === ''")
            try page.expect("!document.documentElement.outerHTML.includes('hush')")
            try page.click("Password", "explain")
            try page.wait("row('Password').querySelector('table') != null")
            try page.browser.reload()
            try page.wait("text('Password', 'value') === 'set'")
            try page.expect("!document.documentElement.outerHTML.includes('hush')")
        }
    }

    @Test func actionsRunWithArgumentsAndShowTheirResult() throws {
        let tweaks = PageTweaks()
        try PanelHost.visit(tweaks.registry, expecting: [PanelView.refused(422)]) { host, page in
            // A long action keeps nothing else waiting.
            try page.click("Wait", "run")
            try page.wait("part('Wait', 'run').ariaBusy === 'true'")
            try page.click("Bool", "switch", sets: .bool(true))
            tweaks.gate.open()
            try page.wait("text('Wait', 'result') === 'waited' && part('Wait', 'run').ariaBusy === 'false'")
            // A field for each declared argument; one for all where none is declared.
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
            #expect(made[0] == ["file", "loud", "volu"] && made[1] == "file is missing; fill it in")
            let values: [PageValue] = [["a b"], ["a", "false", "0.7"], ["a", "true"], 0, [], ["one", "two three"]]
            #expect(made.array?.dropFirst(2) == values[...], "\(made)")
            try page.checkConsole()
            try page.click("Greet", "run")
            try page.wait("text('Greet', 'result') === 'hello '")
            // One without a declaration seldom has some.
            #expect(try page.ask("isShown(part('Greet', 'arguments'))") == false)
            try page.click("Greet", "offer")
            try page.wait("document.activeElement === part('Greet', 'arguments')")
            try page.type("you \"two of\" 'them all'", over: "Greet", "arguments", then: .enter)
            try page.wait("text('Greet', 'result') === 'hello you+two of+them all'")
            try page.type("badly", over: "Greet", "arguments")
            try page.press("Greet", "run", .space)
            #expect(try page.error("Greet").contains("no <manners>"))
            try page.wait("text('Greet', 'result') === ''")
        }
    }
}
