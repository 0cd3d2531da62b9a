// Reads a request of a fleet's page: its path, its query, and the fields of its body.

import Tweaks
import TweaksFleet
import TweaksPanel

/// A request below `/api/fleet`.
struct FleetCall: Sendable {
    let isChange: Bool
    /// The parts of the path after `/api/fleet`.
    let path: [String]
    /// The fields of the body; none for reading.
    let body: FleetBody
    private let query: [HTTPField]
    private let method: String

    init(_ request: HTTPRequest) throws(FleetRefusal) {
        method = request.method
        isChange = method == "POST"
        path = Array(request.path.dropFirst(2))
        query = request.query
        body = isChange ? try FleetBody(request.body) : FleetBody("the body")
        if !isChange, !["GET", "HEAD"].contains(method) { throw unknown }
    }

    /// A parameter that may occur at most once.
    func query(_ name: String) throws(FleetRefusal) -> String? {
        let values = query.filter { $0.name == name }.map(\.value)
        if values.count > 1 {
            throw FleetRefusal(.usage, "the query: \(name) occurs \(values.count) times; give it once")
        }
        return values.first
    }

    /// The path of a tweak in the query.
    func tweakPath() throws(FleetRefusal) -> TweakPath {
        guard let text = try query("path") else {
            throw FleetRefusal(.usage, "the query: path is missing; write it, as in ?path=Service/Pool/Size")
        }
        return try TweakPath(reading: text)
    }

    var unknown: FleetRefusal {
        let text = "\(method) /api/fleet\(path.map { "/\($0)" }.joined())"
        return FleetRefusal(.usage, "\(Quoting.excerpt(text)) is no request here; “Running a fleet” lists all")
    }
}

/// A JSON object in a body. Fields of other types than expected, and unknown ones, are errors.
struct FleetBody: Sendable {
    /// The name of the object in errors: `the body`, `change 3`.
    let subject: String
    private var fields: [(String, JSON)] = []

    init(_ subject: String) { self.subject = subject }

    init(_ bytes: [UInt8]) throws(FleetRefusal) {
        do throws(JSONReader.Problem) {
            self.init(try JSON(bytes, maxValues: 10_000), "the body")
        } catch {
            throw FleetRefusal(.usage, "the body is not JSON: \(error); write an object, such as {}")
        }
    }

    private init(_ json: JSON, _ subject: String) {
        self.subject = subject
        if case .object(let fields) = json { self.fields = fields } else { self.fields = [("", json)] }
    }

    /// Throws if the object has other fields than these, or is none.
    func allow(_ known: [String]) throws(FleetRefusal) {
        for (name, _) in fields where !known.contains(name) {
            if name.isEmpty { throw FleetRefusal(.usage, "\(subject) must be a JSON object, such as {}") }
            let near = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
            let remedy = near ?? (known.isEmpty ? "write {}" : "known: \(known.joined(separator: ", "))")
            throw FleetRefusal(.usage, "\(subject): there is no field \(Quoting.excerpt(name)); \(remedy)")
        }
    }

    private func value<Value>(
        _ name: String, _ description: String, _ read: (JSON) -> Value?
    ) throws(FleetRefusal) -> Value? {
        guard let json = fields.first(where: { $0.0 == name })?.1 else { return nil }
        if let value = read(json) { return value }
        throw FleetRefusal(.usage, "\(subject): \(name) must be \(description)")
    }

    func text(_ name: String) throws(FleetRefusal) -> String? { try value(name, "a text in quotes", \.string) }

    func required(_ name: String) throws(FleetRefusal) -> String {
        if let text = try text(name) { return text }
        throw FleetRefusal(.usage, "\(subject): \(name) is missing; it must be a text in quotes")
    }

    func flag(_ name: String) throws(FleetRefusal) -> Bool {
        try value(name, "true or false") { if case .bool(let value) = $0 { value } else { nil } } ?? false
    }

    func texts(_ name: String) throws(FleetRefusal) -> [String] {
        try value(name, "a list of texts") { json -> [String]? in
            guard case .array(let values) = json else { return nil }
            let texts = values.compactMap(\.string)
            return texts.count == values.count ? texts : nil
        } ?? []
    }

    /// A list of at least one object.
    func objects(_ name: String, called subject: String) throws(FleetRefusal) -> [FleetBody] {
        let values = try value(name, "a list of one \(subject) or more") { $0.elements.isEmpty ? nil : $0.elements }
        guard let values else { throw FleetRefusal(.usage, "\(self.subject): \(name) is missing; it must be a list") }
        return values.enumerated().map { FleetBody($0.element, "\(subject) \($0.offset + 1)") }
    }
}

extension TweakPath {
    init(reading text: String) throws(FleetRefusal) {
        do throws(TweakError) {
            try self.init(text)
        } catch {
            throw FleetRefusal(.usage, error.message)
        }
    }
}
