// Runs scripts in a page and waits for conditions there.

import Foundation

extension Browser {
    /// Runs the body of a function, whose arguments are `arguments`, and returns its result. A promise is awaited.
    @discardableResult
    package func run(_ script: String, _ arguments: PageValue...) throws -> PageValue {
        try evaluate(script, arguments, about: Self.subject(script))
    }

    /// Runs the body of a function that passes its result to a callback, its last argument.
    @discardableResult
    package func runUntilCalled(_ script: String, _ arguments: PageValue...) throws -> PageValue {
        try evaluate(script, arguments, callsBack: true, about: Self.subject(script))
    }

    private static func subject(_ script: String) -> String { "script \(script.prefix(200))" }

    /// Waits until an expression is true in the page. It is evaluated after every change of the document and every 20
    /// ms. An exception counts as false. It may use `arguments` and `await`. Waiting goes on after the page is
    /// reloaded.
    /// - Returns: The value of the expression.
    @discardableResult
    package func wait(
        until condition: String, _ arguments: PageValue..., within limit: Duration = Browser.timeout
    ) throws -> PageValue {
        let end = ContinuousClock.now + limit
        while true {
            do {
                let rest = PageValue.milliseconds(max(end - .now, .zero))
                let answer = try evaluate(
                    Self.waiting(for: condition), [rest] + arguments, callsBack: true, about: "awaited: \(condition)")
                if answer["holds"] == true { return answer["value"] }
                throw BrowserError(
                    code: "timeout", description: "awaited for \(limit): \(condition); at the end \(answer["value"])")
            } catch let error as BrowserError where error.code == "refused" && ContinuousClock.now < end {
                // The page was left, which ended its scripts.
                continue
            }
        }
    }

    /// The condition is part of the script's text, because a page's policy may forbid evaluating strings.
    private static func waiting(for condition: String) -> String {
        """
        const done = arguments[arguments.length - 1];
        const limit = arguments[0];
        const holds = async function () { return (\(condition)\n); };
        const given = Array.prototype.slice.call(arguments, 1, -1);
        let isOver = false, isLooking = false, last = null;
        const finish = (value) => {
            if (isOver) return;
            isOver = true;
            observer.disconnect();
            clearInterval(timer);
            clearTimeout(end);
            done(value);
        };
        const look = async () => {
            if (isOver || isLooking) return;
            isLooking = true;
            try {
                last = await holds.apply(null, given);
                if (last) finish({ holds: true, value: last });
            } catch (error) { last = String(error); }
            isLooking = false;
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
        // A timer, not animation frames: requesting a frame makes the browser draw the page.
        const timer = setInterval(look, 20);
        const end = setTimeout(() => finish({ holds: false, value: last }), limit);
        look();
        """
    }

    // MARK: Evaluating

    /// Runs the body of a function. Elements are passed as numbers, indexes of a table in their document.
    /// - Parameter context: The execution context of a frame; null for the page.
    func evaluate(
        _ script: String, _ arguments: [PageValue] = [], callsBack: Bool = false, context: PageValue = nil,
        about subject: String, in tab: BrowserTab
    ) throws -> PageValue {
        let given = String(decoding: try JSONEncoder().encode(arguments), as: UTF8.self)
        var parameters: [String: PageValue] = [
            "expression": .string("(\(Self.running))(\(callsBack), async function () {\n\(script)\n}, \(given))"),
            "returnByValue": true, "awaitPromise": true, "userGesture": true,
        ]
        if context != nil { parameters["contextId"] = context }
        let reply = try tab.ask("Runtime.evaluate", .object(parameters), about: subject)
        if let problem = reply["exceptionDetails"]["exception"]["description"].string {
            throw BrowserError(code: "javascript error", description: "\(subject): \(problem)")
        }
        let result = reply["result"]["value"]
        guard let code = result["code"].string else { return result["value"] }
        throw BrowserError(code: code, description: "\(subject): \(result["message"].string ?? code)")
    }

    private static let running = """
        async (callsBack, script, given) => {
            const table = \(Element.table) ??= { elements: [], numbers: new Map() };
            const mark = '\(Element.mark)';
            const leave = (value) => {
                if (value instanceof Element) {
                    if (!table.numbers.has(value)) table.numbers.set(value, table.elements.push(value) - 1);
                    return { [mark]: table.numbers.get(value) };
                }
                if (Array.isArray(value) || value instanceof NodeList || value instanceof HTMLCollection)
                    return Array.from(value, leave);
                if (value === null || typeof value !== 'object') return value ?? null;
                if (typeof value.toJSON === 'function') return leave(value.toJSON());
                return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, leave(part)]));
            };
            const enter = (value) => {
                if (Array.isArray(value)) return value.map(enter);
                if (value === null || typeof value !== 'object') return value;
                if (!(mark in value))
                    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, enter(part)]));
                const element = table.elements[value[mark]];
                if (element?.isConnected) return element;
                throw Object.assign(new Error('the page no longer has it'), { refusal: 'stale element reference' });
            };
            try {
                const all = given.map(enter);
                const value = callsBack
                    ? await new Promise((done, fail) => script.apply(null, [...all, done]).catch(fail))
                    : await script.apply(null, all);
                return { value: leave(value) };
            } catch (error) { return { code: error?.refusal ?? 'javascript error', message: String(error) }; }
        }
        """
}
