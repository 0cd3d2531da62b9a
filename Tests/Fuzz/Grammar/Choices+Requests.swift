// Produces requests of the line protocol and of HTTP, for every kind of tweak.

import Tweaks

extension Choices {
    private static let paths =
        ["Free", "Bound"].flatMap { collection in
            ["number", "int", "time", "color", "bool", "string", "choice"].map { "Sample/\(collection)/\($0)" }
        }
        + ["point", "curve", "curves", "ints", "texts", "colors", "choices", "maybe", "place"].map {
            "Sample/Many/\($0)"
        }
        + Samples.limitNames.map { "Sample/Limits/\($0)" } + ["Sample/Odd/secrets", "Player/Audio/Play"]

    package mutating func path() -> String { pick(Self.paths) }

    private mutating func pattern() -> String { pick(["*", "Sample", "Sample/Limits", "Sample/*/int", path()]) }

    /// A value as a token.
    private mutating func token() -> String {
        let value = value()
        switch below(3) {
        case 0: return value
        case 1: return Quoting.needsQuotes(value) ? Quoting.json(value) : value
        default: return Quoting.json(value)
        }
    }

    // MARK: Lines

    /// Requests of a few words, and lines that are nearly one.
    private static let words = [
        "json on", "json off", "commit", "abort", "undo", "redo", "stats", "sessions", "conflicts",
        "set Sample/Free/int = 5 for 1m", "set Sample/Free/string = for", "set Sample/Free/int += 5",
        "Sample/Free/string = wait for 1m", "Sample/Free/int 4 for 1m", "Sample/Free/bool toggle",
        "Sample/Free/int: 5", "get Sample/ Sample/Free/int/", "watch Sample//", "unwatch Sample/", "[pool]",
        "workers: 3", "\"workers\": 3,", "Sample/Free", "complete \"set Sample/Free/int = \"",
    ]

    /// One request, or lines of a batch.
    package mutating func line() -> String {
        switch below(16) {
        case 0: "check \(path()) \(token())"
        case 1, 2: "\(path()) = \(token())"
        case 3: "\(path()) += \(token())"
        case 4: "\(path()) -= \(token())"
        case 5: "set \(path()) \(token())"
        case 6: "set \(path()) \(token()) for \(duration())"
        case 7: "run Player/Audio/Play " + several(8, separator: " ") { $0.token() }
        case 8: "begin \(counter())\n" + several(4, separator: "\n") { $0.line() } + "\ncommit"
        case 9: "watch \(pattern()) since \(counter())"
        case 10: pick(["history", "undo", "redo", "kick", "begin", "hello", "undo mine"]) + " \(counter())"
        case 11: pick(["get", "describe", "explain", "export", "modified", "reset", "keep", "ls"]) + " \(pattern())"
        case 12: pick(Self.words)
        case 13: "find \(value())"
        case 14: "complete \(Quoting.json(below(2) == 0 ? "set \(path()) \(value())" : value()))"
        default: pick(["import", "import dry"]) + "\n" + several(4, separator: "\n") { $0.assignment() } + "\n."
        }
    }

    /// A counter such as a revision: digits, mostly alone.
    package mutating func counter() -> String { pick(["", "", "", "-", "+"]) + digits() }

    /// A line of a config file.
    package mutating func assignment() -> String {
        "\(path()) = \(token())" + pick(["", " # note", " for \(duration())"])
    }

    // MARK: HTTP

    /// A change in a body.
    private mutating func change() -> String {
        let operation = pick(["value", "add", "subtract", "value"])
        let amount = below(3) == 0 ? json() : below(2) == 0 ? numberOfJSON() : Quoting.json(value())
        let lifetime = below(4) == 3 ? ",\"for\":\(Quoting.json(duration()))" : ""
        return "{\"path\":\"\(path())\",\"\(operation)\":\(amount)\(lifetime)}"
    }

    private mutating func changes() -> String {
        let first = change()
        return "\"changes\":[" + first + several(3) { "," + $0.change() } + "]"
    }

    /// A request with credentials, whose body has the length that it states, unless a mutation changes that.
    package mutating func http(_ token: String) -> String {
        let (method, target, body) = route()
        let length = below(16) == 15 ? counter() : "\(body.utf8.count)"
        let event = below(8) == 7 ? "Last-Event-ID: \(counter())\r\n" : ""
        let framing = below(32) == 31 ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(length)\r\n"
        return "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:0\r\nAuthorization: Bearer \(token)\r\n"
            + "Content-Type: application/json\r\n\(event)\(framing)\r\n\(body)"
    }

    private mutating func route() -> (method: String, target: String, body: String) {
        switch below(14) {
        case 0, 1: return ("POST", "/api/check", "{\(changes())}")
        case 2, 3: return ("PATCH", "/api/tweaks", "{\(changes())}")
        case 4: return ("PATCH", "/api/tweaks", "{\(changes()),\"baseRevision\":\(numberOfJSON())}")
        case 5:
            return (
                "POST", "/api/actions/Player/Audio/Play",
                "{\"arguments\":[\(several(8, separator: ",") { $0.json() })]}"
            )
        case 6: return ("GET", "/api/history?count=\(counter())", "")
        case 7: return ("DELETE", "/api/sessions/\(counter())", "")
        case 8: return ("POST", pick(["/api/undo", "/api/redo"]), "{\"force\":true}")
        case 9:
            let text = several(4, separator: "\n") { $0.assignment() }
            return ("POST", "/api/import", "{\"text\":\(Quoting.json(text))}")
        case 10: return ("GET", "/api/events?since=\(counter())&pattern=*", "")
        case 11: return ("GET", "/api/tweaks?pattern=" + pick(["*", "Sample", "%2A", "Sample/Limits/%"]), "")
        case 12: return ("POST", "/api/run", "{\"path\":\"Player/Audio/Play\",\"arguments\":\(json())}")
        default: return ("PATCH", "/api/tweaks", json())
        }
    }
}
