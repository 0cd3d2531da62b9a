// The API as a table. openapi.json says the same to programs, and a test compares the two.

import Tweaks
import TweaksWire

extension PanelRoute {
    /// All there is.
    static let all = pages + tweaks + history + presets + texts + server

    private static let pages = [
        PanelRoute("GET", "/", query: nil) { _ in .page },
        PanelRoute("GET", "/panel/{version}/{file}") { call in
            .file(call.parameters[1], version: call.parameters[0])
        },
        PanelRoute("GET", "/panel/{version}/{folder}/{file}") { call in
            .file(call.parameters[1...].joined(separator: "/"), version: call.parameters[0])
        },
        PanelRoute("POST", "/login") { call throws(HTTPFailure) in
            .login(try login(try call.body("scram", "challenge", "answer")))
        },
        PanelRoute("POST", "/logout") { call throws(HTTPFailure) in
            _ = try call.body()
            return .logout
        },
        PanelRoute("GET", "/api/openapi.json") { _ in .openAPI },
        PanelRoute("GET", "/api/events", query: ["pattern", "since"]) { call throws(HTTPFailure) in
            let id = try call.query("since")
            // What a browser sends by itself is newer than an address that it was given once.
            return .events(patterns: call.patterns(), lastID: call.request[header: "last-event-id"] ?? id)
        },
    ]

    /// One of the four steps, by the fields that there are.
    private static func login(_ fields: PanelFields) throws(HTTPFailure) -> PanelLogin {
        switch fields.names(among: ["scram", "challenge", "answer"]) {
        case []: return .ask
        case ["scram"]:
            let message = try fields.required("scram", .text)
            return message.hasPrefix("c=") ? .finish(message) : .begin(message)
        case ["challenge", "answer"]:
            return .answer(try fields.required("challenge", .text), try fields.required("answer", .base64))
        default:
            throw HTTPFailure(
                .usage,
                "the body: write a message of SCRAM as scram, or a challenge with its answer, or {} to be given one")
        }
    }

    private static let tweaks = [
        PanelRoute("GET", "/api/tweaks", query: ["pattern"]) { call in .one(.get(call.patterns())) },
        PanelRoute("PATCH", "/api/tweaks", patch),
        PanelRoute("GET", "/api/tweaks/{category}/{collection}/{name}") { call throws(HTTPFailure) in
            explained(try call.tweak())
        },
        // Browsers take the parts . and .. out of an address, and tweaks may have such names.
        PanelRoute("GET", "/api/explain", query: ["path"]) { call throws(HTTPFailure) in
            explained(
                try TweakPath(try call.query("path").orMissing("path", "Content/Text/Size"), in: "the query").joined)
        },
        PanelRoute("POST", "/api/check") { call throws(HTTPFailure) in
            let changes = try PanelChange.all(try call.body("changes"), checks: true)
            return .script(PanelScript(changes.compactMap(\.check), shows: .all))
        },
        PanelRoute("POST", "/api/reset") { call throws(HTTPFailure) in
            .one(.reset(try call.body("patterns").required("patterns", .someTexts)))
        },
        PanelRoute("POST", "/api/actions/{category}/{collection}/{name}") { call throws(HTTPFailure) in
            let arguments = try call.body("arguments").optional("arguments", .texts) ?? []
            return .one(.run(path: try call.tweak(), arguments: arguments))
        },
        PanelRoute("POST", "/api/run") { call throws(HTTPFailure) in
            let body = try call.body("path", "arguments")
            let path = try TweakPath(try body.required("path", .line), in: "the body").joined
            return .one(.run(path: path, arguments: try body.optional("arguments", .texts) ?? []))
        },
        PanelRoute("GET", "/api/find", query: ["q"]) { call throws(HTTPFailure) in
            let words = try call.query("q")?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
            return .one(.find(try (words.isEmpty ? nil : words).orMissing("q", "size")))
        },
    ]

    private static let history = [
        PanelRoute("POST", "/api/undo") { call throws(HTTPFailure) in
            let body = try call.body("force", "mine")
            return .one(.undo(force: try body.flag("force"), mine: try body.flag("mine")))
        },
        PanelRoute("POST", "/api/redo") { call throws(HTTPFailure) in
            let body = try call.body("force", "mine")
            return .one(.redo(force: try body.flag("force"), mine: try body.flag("mine")))
        },
        PanelRoute("GET", "/api/history", query: ["count"]) { call throws(HTTPFailure) in
            guard let text = try call.query("count") else { return .one(.history(nil)) }
            guard let count = UInt64(digits: text), let count = Int(exactly: count) else {
                throw HTTPFailure(.usage, "the query: count has to be a whole number, such as 20")
            }
            return .one(.history(count))
        },
    ]

    private static let presets = [
        PanelRoute("GET", "/api/presets") { _ in .one(.presets) },
        PanelRoute("PUT", "/api/presets/{name}") { call throws(HTTPFailure) in
            .one(.save(name: call.parameters[0], pattern: try call.body("pattern").optional("pattern", .line)))
        },
        PanelRoute("DELETE", "/api/presets/{name}") { call in .one(.delete(name: call.parameters[0])) },
        PanelRoute("POST", "/api/presets/{name}/load") { call throws(HTTPFailure) in
            let body = try call.body("only", "partly")
            return .one(
                .load(name: call.parameters[0], only: try body.flag("only"), partly: try body.flag("partly")))
        },
        PanelRoute("POST", "/api/presets/{name}/swap") { call throws(HTTPFailure) in
            .one(.swap(name: call.parameters[0], force: try call.body("force").flag("force")))
        },
        PanelRoute("GET", "/api/presets/{name}/diff", query: ["with"]) { call throws(HTTPFailure) in
            .one(.diff(call.parameters[0], try call.query("with")))
        },
    ]

    private static let texts = [
        PanelRoute("GET", "/api/export", query: ["pattern"]) { call throws(HTTPFailure) in
            .script(PanelScript([.export(try call.query("pattern"))], shows: .text))
        },
        PanelRoute("POST", "/api/import") { call throws(HTTPFailure) in
            let body = try call.body("text", "dry")
            let dry = try body.flag("dry")
            return .one(try .assignments(of: try body.required("text", .text), dry: dry))
        },
    ]

    private static let server = [
        PanelRoute("GET", "/api/whoami") { _ in .one(.whoami) },
        PanelRoute("GET", "/api/stats") { _ in .one(.stats) },
        PanelRoute("GET", "/api/conflicts") { _ in .one(.conflicts) },
        PanelRoute("GET", "/api/sessions") { _ in .one(.sessions) },
        PanelRoute("DELETE", "/api/sessions/{id}") { call throws(HTTPFailure) in
            guard let session = UInt64(digits: call.parameters[0]) else {
                throw HTTPFailure(.usage, "\(Quoting.excerpt(call.parameters[0])) is no session; write its number")
            }
            return .one(.kick(session: session))
        },
        PanelRoute("POST", "/api/reload") { call throws(HTTPFailure) in
            .one(.reload(dry: try call.body("dry").flag("dry")))
        },
    ]

    private static func explained(_ path: String) -> PanelAction {
        .script(PanelScript([.describe(path), .explain(path)], shows: .all))
    }

    private static func patch(_ call: PanelCall) throws(HTTPFailure) -> PanelAction {
        let body = try call.body("changes", "baseRevision", "settled")
        let revision = try body.optional("baseRevision", .revision)
        var script = PanelScript(try PanelChange.all(body), ifUnchangedSince: revision)
        script.waitsForDisk = try body.optional("settled", .flag) ?? true
        return .script(script)
    }
}

extension PanelAction {
    /// One request, whose reply is the answer.
    fileprivate static func one(_ request: Request) -> PanelAction { .script(PanelScript([request])) }
}

extension Optional {
    /// What the query has to have.
    fileprivate func orMissing(_ name: String, _ example: String) throws(HTTPFailure) -> Wrapped {
        if let self { return self }
        throw HTTPFailure(.usage, "the query: \(name) is missing; write it, as in ?\(name)=\(example)")
    }
}
