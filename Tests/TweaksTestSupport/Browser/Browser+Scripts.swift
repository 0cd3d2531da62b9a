// Scripts that tests run in a page, and conditions that they wait for there.

import Foundation

extension Browser {
    /// Runs the body of a function, whose arguments are `arguments`, and returns what it returns. A promise is waited for.
    @discardableResult
    package func run(_ script: String, _ arguments: PageValue...) throws -> PageValue {
        try execute("sync", script, arguments)
    }

    /// Runs the body of a function whose last argument is a function that ends it, with a result.
    @discardableResult
    package func runUntilCalled(_ script: String, _ arguments: PageValue...) throws -> PageValue {
        try execute("async", script, arguments)
    }

    private func execute(
        _ kind: String, _ script: String, _ arguments: [PageValue], about subject: String? = nil
    ) throws -> PageValue {
        let body: PageValue = ["script": .string(script), "args": .array(arguments)]
        return try ask("POST", "execute/\(kind)", body, about: subject ?? "script \(script.prefix(200))")
    }

    /// Waits in the page until an expression is true there: it is looked at after every change of the document and
    /// every 20 ms. What it throws counts as false. It may use `arguments` and `await`, and survives a page that is loaded again.
    /// - Returns: The value of the expression.
    @discardableResult
    package func wait(
        until condition: String, _ arguments: PageValue..., within limit: Duration = Browser.patience
    ) throws -> PageValue {
        let end = ContinuousClock.now + limit
        while true {
            do {
                let rest = PageValue.milliseconds(max(end - .now, .zero))
                let answer = try execute(
                    "async", Self.waiting(for: condition), [rest] + arguments, about: "awaited: \(condition)")
                if answer["holds"] == true { return answer["value"] }
                throw BrowserError(
                    code: "timeout", description: "awaited for \(limit): \(condition); at the end \(answer["value"])")
            } catch let error as BrowserError where Self.meansAnotherPage(error) && ContinuousClock.now < end {
                continue
            }
        }
    }

    /// Whether a script did not end because its page did. The driver calls that a timeout, though there was none.
    private static func meansAnotherPage(_ error: BrowserError) -> Bool {
        error.code == "script timeout" || error.description.contains("navigat") || error.description.contains("unload")
    }

    /// The condition is part of the script's text, because pages whose policy forbids it cannot make code of strings.
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
        // By the clock and not by frames: to ask for a frame is to have the page drawn.
        const timer = setInterval(look, 20);
        const end = setTimeout(() => finish({ holds: false, value: last }), limit);
        look();
        """
    }
}
