// Tests that openapi.json matches the table of routes, and that its references resolve.

import Testing
import Tweaks
import TweaksWire

@testable import TweaksPanel

@Suite struct OpenAPITests {
    private static let parsed = Result { () throws(JSONReader.Problem) in try JSON(PanelFiles.openAPI) }
    private let document: JSON

    init() throws { document = try Self.parsed.get() }

    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    /// Every operation, as `GET /api/tweaks`.
    private var operations: [(name: String, value: JSON)] {
        (document["paths"]?.named ?? []).flatMap { path in
            path.value.named.filter { Self.methods.contains($0.name) }
                .map { ("\($0.name.uppercased()) \(path.name)", $0.value) }
        }
    }

    /// Whether its format is not of this project: a probe's is one word, and OpenFeature has its own.
    private static func hasErrorsOfItsOwn(_ operation: String) -> Bool {
        operation.hasSuffix(" /readyz") || operation.hasPrefix("POST /ofrep/")
    }

    /// The method and the path of an operation, whose parameters are all `a`.
    private static func request(_ operation: String, _ body: String) -> HTTPRequest {
        let words = operation.split(separator: " ").map(String.init)
        let path = words[1].split(separator: "/").map { $0.hasPrefix("{") ? "a" : String($0) }
        var request = HTTPRequest(method: words[0], path: path)
        request.body = Array(body.utf8)
        return request
    }

    @Test func hasTheVersionAndTheRoutesOfTheTable() {
        #expect(document["openapi"] == .string("3.1.0"))
        let routes = PanelRoute.all.map { "\($0.method) \($0.path)" }
        #expect(operations.map(\.name).sorted() == routes.sorted())
        #expect(routes.count == 42)
    }

    @Test func hasTheParametersOfTheTable() throws {
        for route in PanelRoute.all {
            let operation = try #require(operations.first { $0.name == "\(route.method) \(route.path)" }?.value)
            let parameters = try (operation["parameters"]?.elements ?? []).map { try resolve($0) }
            func names(_ place: String) -> [String] {
                parameters.filter { $0["in"] == .string(place) }.compactMap { $0["name"]?.string }.sorted()
            }
            let braces = route.path.split(separator: "/").filter { $0.hasPrefix("{") }
            #expect(names("path") == braces.map { String($0.dropFirst().dropLast()) }.sorted(), "\(route.path)")
            #expect(names("query") == (route.query ?? []).sorted(), "\(route.path)")
        }
    }

    /// Each field of a schema is known to the router, and no other one.
    @Test func hasTheBodiesOfTheTable() throws {
        for operation in operations {
            let hasBody = ["POST", "PUT", "PATCH"].contains { operation.name.hasPrefix("\($0) ") }
            let body = operation.value["requestBody"]
            #expect((body != nil) == hasBody, "\(operation.name)")
            guard let body else { continue }
            #expect(body["required"] == .bool(true))
            let schema = try resolve(try #require(body["content"]?["application/json"]?["schema"]))
            // Its bodies may have fields of other providers.
            if Self.hasErrorsOfItsOwn(operation.name) { continue }
            #expect(schema["additionalProperties"] == .bool(false), "\(operation.name)")
            for field in (schema["properties"]?.named ?? []).map(\.name) + ["nonsense"] {
                let request = Self.request(operation.name, "{\"\(field)\":{}}")
                let failure = try PanelRouter.failure(request)
                #expect(failure.message.contains("there is no field") == (field == "nonsense"), "\(failure.message)")
            }
        }
    }

    /// A flag for each keyword of the command, where the route has no other fields.
    @Test func hasTheKeywordsOfTheCommands() throws {
        for route in PanelRoute.all where route.method == "POST" && route.commands.count == 1 {
            let operation = try #require(operations.first { $0.name == "POST \(route.path)" }?.value)
            let content = operation["requestBody"]?["content"]?["application/json"]
            let schema = try resolve(try #require(content?["schema"]))
            let flags = (schema["properties"]?.named ?? []).compactMap {
                $0.value["type"] == .string("boolean") ? $0.name : nil
            }
            let own = route.commands == [.import] ? ["dry"] : []
            #expect(flags.sorted() == own + Self.flags(of: route.commands[0]), "\(route.path)")
        }
    }

    /// The keywords that help shows alone, by their names without dashes.
    private static func flags(of command: Command) -> [String] {
        command.synopsis.split(separator: " ").filter { $0.hasPrefix("[") && $0.hasSuffix("]") && !$0.contains("|") }
            .map { $0.filter(\.isLetter) }.filter { $0 == $0.lowercased() }.sorted()
    }

    @Test func summariesNameTheOperationsForAdministrators() throws {
        for route in PanelRoute.all {
            let operation = operations.first { $0.name == "\(route.method) \(route.path)" }?.value
            let summary = try #require(operation?["summary"]?.string)
            let isTheirs = route.commands.contains { $0.permission == .whole(.admin) }
            #expect(summary.hasSuffix("; needs admin") == isTheirs, "\(route.path)")
        }
    }

    @Test func everyExampleIsAccepted() throws {
        var tried = 0
        for operation in operations {
            guard let content = operation.value["requestBody"]?["content"]?["application/json"] else { continue }
            let example = try #require(content["example"], "\(operation.name) has no example")
            _ = try PanelRouter.action(for: Self.request(operation.name, example.text))
            tried += 1
        }
        #expect(tried == 17)
    }

    @Test func everyReferenceResolvesAndEveryComponentIsUsed() throws {
        var count = 0
        var used = Set<String>()
        try document.forEach { value in
            guard let reference = value["$ref"]?.string else { return }
            _ = try resolve(value)
            used.insert(reference)
            count += 1
        }
        #expect(count > 100)
        // No component is unused but the events, which the schema of a stream cannot reference.
        for kind in ["schemas", "responses", "parameters"] {
            for component in document["components"]?[kind]?.named ?? [] where !component.name.hasSuffix("Event") {
                #expect(used.contains("#/components/\(kind)/\(component.name)"), "\(component.name) is not used")
            }
        }
    }

    @Test func everyErrorCodeAndKindIsListed() {
        func values(_ name: String) -> [String] {
            document["components"]?["schemas"]?[name]?["enum"]?.elements.compactMap(\.string).sorted() ?? []
        }
        #expect(values("Code") == TweakError.Code.allCases.map(\.rawValue).sorted())
        #expect(values("Kind") == TweakKind.allCases.map(\.rawValue).sorted())
    }

    @Test func everyStatusExistsAndFailuresHaveTheErrorSchema() throws {
        for operation in operations where !Self.hasErrorsOfItsOwn(operation.name) {
            for response in operation.value["responses"]?.named ?? [] {
                let status = Int(response.name)
                let isKnown = status.flatMap(HTTPStatus.init(number:)) != nil
                #expect(isKnown || response.name == "default", "\(response.name)")
                if let status, status < 400 { continue }
                let body = try resolve(response.value)["content"]?["application/json"]?["schema"]?["$ref"]
                #expect(body == .string("#/components/schemas/Error"), "\(operation.name) \(response.name)")
            }
        }
    }

    /// Any request can be refused with these; another status of a failure stands at its operations.
    @Test func theDefaultResponseNamesEveryOtherStatus() throws {
        let description = document["components"]?["responses"]?["Refused"]?["description"]?.string ?? ""
        let named = Set(description.split(separator: " ").compactMap { $0.hasSuffix(":") ? Int($0.dropLast()) : nil })
        var listed: Set<Int> = []
        for operation in operations {
            let responses = operation.value["responses"]
            #expect(responses?["default"] != nil, "\(operation.name)")
            if Self.hasErrorsOfItsOwn(operation.name) { continue }
            #expect(responses?["default"]?["$ref"] == .string("#/components/responses/Refused"), "\(operation.name)")
            listed.formUnion((responses?.named ?? []).compactMap { Int($0.name) })
        }
        // An operation has its method.
        let failures = Set(HTTPStatus.allCases.map(\.number).filter { $0 >= 400 }).subtracting([405])
        #expect(named == failures.subtracting(listed))
    }

    @Test func exactlyTheOpenOperationsNeedNoToken() {
        let open = operations.filter { $0.value["security"] == .array([]) }.map(\.name)
        let files = ["GET /panel/{version}/{file}", "GET /panel/{version}/{folder}/{file}"]
        let probes = ["GET /healthz", "GET /readyz"]
        #expect(open == ["GET /"] + files + ["POST /login", "POST /logout", "GET /api/openapi.json"] + probes)
        for operation in operations where operation.value["security"] == nil {
            #expect(operation.value["responses"]?["401"] != nil, "\(operation.name)")
        }
    }

    private func resolve(_ value: JSON) throws -> JSON {
        guard let reference = value["$ref"]?.string else { return value }
        let parts = reference.split(separator: "/")
        #expect(parts.first == "#")
        return try parts.dropFirst().reduce(document) { value, part in
            try #require(value[String(part)], "\(reference) leads nowhere")
        }
    }
}

extension JSON {
    fileprivate var named: [(name: String, value: JSON)] { fields.map { ($0.0, $0.1) } }

    /// Visits this value and all values in it.
    fileprivate func forEach(_ body: (JSON) throws -> Void) rethrows {
        try body(self)
        for (_, value) in fields { try value.forEach(body) }
        for element in elements { try element.forEach(body) }
    }
}
