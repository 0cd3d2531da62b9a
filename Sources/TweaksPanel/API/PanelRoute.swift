// Lists the routes of the API, finds that of a request, and validates the path, the method and the query.

import Tweaks
import TweaksWire

/// One route of the API: a method, a path, and their action.
struct PanelRoute: Sendable {
    /// Never `HEAD`, which is handled as `GET`.
    let method: String
    /// As in openapi.json: `/api/presets/{name}/load`.
    let path: String
    /// The commands that the route performs; none for routes of the page.
    let commands: [Command]
    /// The known names of the query; nil if the query is ignored.
    let query: [String]?
    let action: @Sendable (PanelCall) throws(HTTPFailure) -> PanelAction
    /// The parts between slashes; nil for a parameter.
    private let parts: [String?]
    /// Whether the last parameter is the rest of the path, with its slashes.
    private let takesRest: Bool

    @inline(never) init(
        _ method: String, _ path: String, _ commands: Command..., query: [String]? = [],
        takesRest: Bool = false, action: @escaping @Sendable (PanelCall) throws(HTTPFailure) -> PanelAction
    ) {
        self.method = method
        self.path = path
        self.commands = commands
        self.query = query
        self.action = action
        self.takesRest = takesRest
        parts = path.pathParts.dropFirst().filter { !$0.isEmpty }.map { $0.hasPrefix("{") ? nil : $0 }
    }

    /// The values of the parameters; nil if the path does not match.
    fileprivate func parameters(in path: [String]) -> [String]? {
        guard path.count == parts.count || takesRest && path.count > parts.count else { return nil }
        var parameters: [String] = []
        for (part, wanted) in zip(path, parts) {
            if wanted == nil { parameters.append(part) }
            if let wanted, wanted != part { return nil }
        }
        for part in path.dropFirst(parts.count) { parameters[parameters.count - 1] += "/" + part }
        return parameters
    }
}

/// Maps requests to actions.
enum PanelRouter {
    /// The action of a request.
    /// - Throws: 404 for an unknown path, 405 for another method, and errors in the query and the body.
    static func action(for request: HTTPRequest) throws(HTTPFailure) -> PanelAction {
        let method = request.method == "HEAD" ? "GET" : request.method
        var others: [String] = []
        for route in PanelRoute.all {
            guard let parameters = route.parameters(in: request.path) else { continue }
            if route.method == method {
                try checkQuery(request, route)
                return try route.action(try PanelCall(request, parameters))
            }
            others += route.method == "GET" ? ["GET", "HEAD"] : [route.method]
        }
        throw others.isEmpty ? unknown(request) : otherMethod(request, others)
    }

    private static func checkQuery(_ request: HTTPRequest, _ route: PanelRoute) throws(HTTPFailure) {
        guard let known = route.query else { return }
        for field in request.query where !known.contains(field.name) {
            throw .unknownName("the query", field.name, of: known, "parameter", empty: "this path has none")
        }
    }

    private static func unknown(_ request: HTTPRequest) -> HTTPFailure {
        let path = "/" + request.path.joined(separator: "/")
        let remedy = "GET /api/openapi.json lists all paths"
        return HTTPFailure(.unknownCommand, "\(Quoting.excerpt(path)) is not a path of this server; \(remedy)")
    }

    private static func otherMethod(_ request: HTTPRequest, _ known: [String]) -> HTTPFailure {
        let words = known.joined(separator: ", ")
        let path = "/" + request.path.joined(separator: "/")
        var failure = HTTPFailure(
            .methodNotAllowed, TweakError.Code.unknownCommand.rawValue,
            "\(Quoting.excerpt(path)) does not support \(Quoting.excerpt(request.method)); use \(words)")
        failure.headers = [HTTPField("Allow", words)]
        return failure
    }
}

extension HTTPFailure {
    /// A required parameter of the query that is missing, with an example.
    fileprivate static func missing(_ name: String, such example: String) -> HTTPFailure {
        HTTPFailure(.usage, "the query: \(name) is missing; write it, as in ?\(name)=\(example)")
    }

    /// An unknown name of a field or a parameter, with a suggestion.
    static func unknownName(
        _ subject: String, _ name: String, of known: [String], _ what: String, empty: String
    ) -> HTTPFailure {
        let near = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
        let remedy = near ?? (known.isEmpty ? empty : "known: \(known.joined(separator: ", "))")
        return HTTPFailure(.usage, "\(subject): there is no \(what) \(Quoting.excerpt(name)); \(remedy)")
    }
}

/// The action that a request asks for.
enum PanelAction: Equatable, Sendable {
    /// The page itself.
    case page
    /// A style, a module or an image of the page, by its name and the version in its address.
    case file(String, version: String)
    /// The description of the API.
    case openAPI
    /// A word that says whether the process lives, or is ready.
    case probe(HealthProbe)
    /// A browser signs in with a token, or a page proves an earlier sign-in.
    case login(PanelLogin)
    /// Ends the sign-in of a browser.
    case logout
    /// Requests of the protocol, one after the other.
    case script(PanelScript)
    /// An endless stream of events: a snapshot of the tweaks that match the patterns, then each change.
    case events(patterns: [String], lastID: String?)
}

/// A step of a sign-in, or of a page that proves an earlier one.
enum PanelLogin: Equatable, Sendable {
    /// The first message of SCRAM, and the last one.
    case begin(String), finish(String)
    /// A program requests a challenge; or a page, which first wants the proof that the server knows its key, too.
    case challenge, prove(SignIn.Key, nonce: String)
    /// Either answers its challenge.
    case answer(String, [UInt8])
}

/// Requests of the protocol with one response; the first error ends the script, and is the response.
struct PanelScript: Equatable, Sendable {
    /// The content of the response.
    enum Output: Equatable, Sendable {
        /// The reply to the last request.
        case last
        /// The fields of all replies, and the items of all in one list.
        case all
        /// The reply to the last request as lines of text, as `export` prints them.
        case text
        /// Replies to `get` and `stats` as metrics.
        case metrics(MetricsFormat)
        /// The tweak with this path as a flag of OpenFeature, and all tweaks, unless the client has them.
        case flag(String)
        case flags(known: String?)
    }

    var requests: [Request]
    var output = Output.last
    /// The requests are a batch, from `begin` to `commit`: if one fails, none takes effect.
    var isBatch = false
    /// The response waits for the disk. False while a slider is dragged, and true for its final value.
    var waitsForDisk = true

    init(_ requests: [Request], output: Output = .last) {
        self.requests = requests
        self.output = output
    }
}

extension PanelRoute {
    /// All routes. openapi.json describes them for programs, and a test compares the two.
    static let all = pages + tweaks + figures + history + previews + presets + texts + server + formats

    private static let pages = [
        PanelRoute("GET", "/", query: nil) { _ in .page },
        PanelRoute("GET", "/panel/{version}/{file}") { call in
            .file(call.parameters[1], version: call.parameters[0])
        },
        PanelRoute("GET", "/panel/{version}/{folder}/{file}") { call in
            .file(call.parameters[1...].joined(separator: "/"), version: call.parameters[0])
        },
        PanelRoute("POST", "/login", .auth) { call throws(HTTPFailure) in
            .login(try login(try call.body("scram", "challenge", "answer", "nonce", "by")))
        },
        PanelRoute("POST", "/logout") { call throws(HTTPFailure) in
            _ = try call.body()
            return .logout
        },
        PanelRoute("GET", "/api/openapi.json") { _ in .openAPI },
        PanelRoute("GET", "/healthz", query: nil) { _ in .probe(.health) },
        PanelRoute("GET", "/readyz", query: nil) { _ in .probe(.readiness) },
        PanelRoute("GET", "/api/events", .watch, query: ["pattern", "since"]) { call throws(HTTPFailure) in
            let id = try call.query("since")
            // The header, which browsers send when they reconnect, is newer than the query.
            return .events(patterns: call.patterns(), lastID: call.request[header: "last-event-id"] ?? id)
        },
    ]

    /// One of the steps of a sign-in, chosen by the fields of the body.
    private static func login(_ fields: PanelFields) throws(HTTPFailure) -> PanelLogin {
        switch fields.names(among: ["scram", "challenge", "answer", "nonce", "by"]) {
        case []: return .challenge
        case ["nonce", "by"]:
            let nonce = try fields.required("nonce", .text)
            let by = try fields.required("by", .text)
            guard (16...64).contains(nonce.utf8.count), Base64.isForURL(nonce), let key = SignIn.Key(rawValue: by)
            else {
                let message = "the body: write 16 to 64 random letters and digits as nonce, and browser or page as by"
                throw HTTPFailure(.usage, message)
            }
            return .prove(key, nonce: nonce)
        case ["scram"]:
            let message = try fields.required("scram", .text)
            return message.hasPrefix("c=") ? .finish(message) : .begin(message)
        case ["challenge", "answer"]:
            return .answer(try fields.required("challenge", .text), try fields.required("answer", .base64))
        default:
            throw HTTPFailure(
                .usage,
                "the body: write a SCRAM message as scram, a challenge with its answer, nonce and by, or {} to get a challenge"
            )
        }
    }

    private static let tweaks = [
        PanelRoute("GET", "/api/tweaks", .get, query: ["pattern"]) { call in .one(Request(.get, call.patterns())) },
        PanelRoute("PATCH", "/api/tweaks", .set, .reset, .keep, .describe, .begin, .commit, action: patch),
        PanelRoute("GET", "/api/tweaks/{category}/{collection}/{name}", .describe, .explain) {
            call throws(HTTPFailure) in
            explained(try call.tweak())
        },
        // Browsers remove the parts . and .. from an address, and tweaks may have such names.
        PanelRoute("GET", "/api/explain", .describe, .explain, query: ["path"]) { call throws(HTTPFailure) in
            guard let path = try call.query("path") else { throw .missing("path", such: "Content/Text/Size") }
            return explained(try TweakPath(path, in: "the query").joined)
        },
        PanelRoute("POST", "/api/check", .check) { call throws(HTTPFailure) in
            let changes = try PanelChange.all(try call.body("changes"), checks: true)
            return .script(PanelScript(changes.compactMap(\.check), output: .all))
        },
        PanelRoute("POST", "/api/reset", .reset) { call throws(HTTPFailure) in
            .one(Request(.reset, try call.body("patterns").required("patterns", .someTexts)))
        },
        PanelRoute("POST", "/api/actions/{category}/{collection}/{name}", .run) { call throws(HTTPFailure) in
            let arguments = try call.body("arguments").optional("arguments", .texts) ?? []
            return .one(Request(.run, [try call.tweak()] + arguments))
        },
        PanelRoute("POST", "/api/run", .run) { call throws(HTTPFailure) in
            let body = try call.body("path", "arguments")
            let path = try TweakPath(try body.required("path", .line), in: "the body").joined
            return .one(Request(.run, [path] + (try body.optional("arguments", .texts) ?? [])))
        },
        PanelRoute("GET", "/api/find", .find, query: ["q"]) { call throws(HTTPFailure) in
            let words = try call.query("q")?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
            if words.isEmpty { throw .missing("q", such: "size") }
            return .one(Request(.find, words))
        },
    ]

    private static let figures = [
        PanelRoute("GET", "/api/figures/{category}/{collection}/{name}", .samples, query: ["seconds"]) {
            call throws(HTTPFailure) in
            try samples(of: try call.tweak(), call)
        },
        PanelRoute("GET", "/api/figures", .samples, query: ["path", "seconds"]) { call throws(HTTPFailure) in
            guard let path = try call.query("path") else { throw .missing("path", such: "Player/Status/Frames") }
            return try samples(of: try TweakPath(path, in: "the query").joined, call)
        },
    ]

    private static func samples(of path: String, _ call: PanelCall) throws(HTTPFailure) -> PanelAction {
        .one(Request(.samples, [path], number: try call.number("seconds", such: "300")))
    }

    private static let history = [
        PanelRoute("POST", "/api/undo", for: .undo, flags: .force, .mine),
        PanelRoute("POST", "/api/redo", for: .redo, flags: .force, .mine),
        PanelRoute("GET", "/api/history", .history, query: ["count"]) { call throws(HTTPFailure) in
            .one(Request(.history, number: try call.number("count", such: "20")))
        },
    ]

    private static let previews = [
        PanelRoute("PUT", "/api/preview", .set, .reset, .keep, .describe, .begin, .preview) {
            call throws(HTTPFailure) in
            let body = try call.body("stream", "changes", "dry")
            let isDry = try body.flag("dry")
            // A dry one shows nothing that could end with a stream.
            let stream = isDry ? try body.optional("stream", .stream) : try body.required("stream", .stream)
            let preview = Request(.preview, [], isDry ? [.dry] : [], number: stream)
            if body.names(among: ["changes"]).isEmpty { return .one(preview) }
            var script = PanelScript([Request(.begin)] + (try PanelChange.all(body).flatMap(\.requests)) + [preview])
            script.isBatch = true
            return .script(script)
        },
        PanelRoute("DELETE", "/api/preview", .preview, query: ["stream"]) { call throws(HTTPFailure) in
            guard let stream = try call.number("stream", such: "7") else { throw .missing("stream", such: "7") }
            return .one(Request(.preview, [], [.off], number: stream))
        },
    ]

    private static let presets = [
        PanelRoute("GET", "/api/presets", for: .presets),
        PanelRoute("PUT", "/api/presets/{name}", .save) { call throws(HTTPFailure) in
            let pattern = try call.body("pattern").optional("pattern", .line)
            return .one(Request(.save, call.parameters + [pattern].compactMap(\.self)))
        },
        PanelRoute("DELETE", "/api/presets/{name}", for: .delete),
        PanelRoute("POST", "/api/presets/{name}/load", for: .load, flags: .only, .partly),
        PanelRoute("POST", "/api/presets/{name}/swap", for: .swap, flags: .force),
        PanelRoute("GET", "/api/presets/{name}/diff", .diff, query: ["with"]) { call throws(HTTPFailure) in
            .one(Request(.diff, call.parameters + [try call.query("with")].compactMap(\.self)))
        },
    ]

    private static let texts = [
        PanelRoute("GET", "/api/export", .export, query: ["pattern", "modified"]) { call throws(HTTPFailure) in
            let words = [try call.query("pattern")].compactMap(\.self)
            let keywords: [Keyword] = try call.flag("modified") ? [.onlyModified] : []
            return .script(PanelScript([Request(.export, words, keywords)], output: .text))
        },
        PanelRoute("POST", "/api/import", .import) { call throws(HTTPFailure) in
            let body = try call.body("text", "dry")
            let dry = try body.flag("dry")
            return .one(try .assignments(of: try body.required("text", .text), dry: dry))
        },
    ]

    private static let server = [
        PanelRoute("GET", "/api/whoami", for: .whoami),
        PanelRoute("GET", "/api/stats", for: .stats),
        PanelRoute("GET", "/api/conflicts", for: .conflicts),
        PanelRoute("GET", "/api/sessions", for: .sessions),
        PanelRoute("DELETE", "/api/sessions/{id}", .kick) { call throws(HTTPFailure) in
            guard let session = UInt64(digits: call.parameters[0]) else {
                throw HTTPFailure(.usage, "\(Quoting.excerpt(call.parameters[0])) is not a session; write its number")
            }
            return .one(Request(.kick, number: session))
        },
        PanelRoute("POST", "/api/reload", for: .reload, flags: .dry),
    ]

    /// What other projects define.
    private static let formats = [
        PanelRoute("GET", "/metrics", .get, .stats) { call in
            let output = PanelScript.Output.metrics(MetricsFormat(call.request))
            return .script(PanelScript([Request(.get, ["*"]), Request(.stats)], output: output))
        },
        PanelRoute("POST", "/ofrep/v1/evaluate/flags/{key}", .describe, .get, takesRest: true) {
            call throws(HTTPFailure) in
            try OFREP.check(call.request)
            // The key may look like a pattern; describe accepts a path alone.
            let key = call.parameters[0]
            return .script(PanelScript([Request(.describe, [key]), Request(.get, [key])], output: .flag(key)))
        },
        PanelRoute("POST", "/ofrep/v1/evaluate/flags", .get) { call throws(HTTPFailure) in
            try OFREP.check(call.request)
            let output = PanelScript.Output.flags(known: call.request[header: "if-none-match"])
            return .script(PanelScript([Request(.get, ["*"])], output: output))
        },
    ]

    /// A route of a command whose arguments are path parameters, and whose keywords are flags in the body.
    @inline(never) private init(_ method: String, _ path: String, for command: Command, flags: Keyword...) {
        self.init(method, path, command) { call throws(HTTPFailure) in
            var request = Request(command, call.parameters)
            if method != "POST" { return .one(request) }
            let body = try call.body(flags.map(\.field))
            for flag in flags where try body.flag(flag.field) { request.keywords.append(flag) }
            return .one(request)
        }
    }

    private static func explained(_ path: String) -> PanelAction {
        .script(PanelScript([Request(.describe, [path]), Request(.explain, [path])], output: .all))
    }

    private static func patch(_ call: PanelCall) throws(HTTPFailure) -> PanelAction {
        let body = try call.body("changes", "baseRevision", "settled")
        let revision = try body.optional("baseRevision", .revision)
        var script = PanelScript(try PanelChange.all(body), ifUnchangedSince: revision)
        script.waitsForDisk = try body.optional("settled", .flag) ?? true
        return .script(script)
    }
}

extension Keyword {
    /// The name of the keyword's field in a body.
    fileprivate var field: String { self == .only ? "only" : rawValue }
}

extension PanelAction {
    /// A single request, whose reply is the response.
    fileprivate static func one(_ request: Request) -> PanelAction { .script(PanelScript([request])) }
}
