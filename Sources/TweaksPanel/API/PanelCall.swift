// Gives a route access to the parameters, query and body of its request, each validated when it is read.

import Tweaks
import TweaksWire

/// A request with the parameters that its route has matched.
struct PanelCall {
    let request: HTTPRequest
    /// The parts of the path that match `{…}` in the route's pattern, in order.
    let parameters: [String]

    /// - Throws: `usage` for a body with a method that takes none.
    init(_ request: HTTPRequest, _ parameters: [String]) throws(HTTPFailure) {
        (self.request, self.parameters) = (request, parameters)
        if request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) { return }
        // Some JSON clients send an empty object with every request.
        if request.method == "DELETE", (try? JSON(request.body)) == .object([]) { return }
        throw HTTPFailure(.usage, "\(request.method) accepts no body here; leave it out")
    }

    /// The path of the tweak that the first three parameters name.
    func tweak() throws(HTTPFailure) -> String {
        do throws(TweakError) {
            return try TweakPath(parameters[0], parameters[1], parameters[2]).joined
        } catch {
            throw HTTPFailure(error)
        }
    }

    // MARK: The query

    /// A parameter that may occur at most once.
    func query(_ name: String) throws(HTTPFailure) -> String? {
        let values = request.values(name)
        if values.count > 1 {
            throw HTTPFailure(.usage, "the query: \(name) occurs \(values.count) times; give it once")
        }
        return values.first
    }

    /// All patterns of the query; without any, the pattern of all tweaks.
    func patterns() -> [String] {
        let patterns = request.values("pattern")
        return patterns.isEmpty ? ["*"] : patterns
    }

    // MARK: The body

    /// The limit of JSON values in a body; more than the longest list of changes has.
    private static let maxValues = 50_000

    /// The fields of the body, which may only have known names.
    func body(_ known: String...) throws(HTTPFailure) -> PanelFields { try body(known) }

    func body(_ known: [String]) throws(HTTPFailure) -> PanelFields {
        if request.body.isEmpty {
            throw HTTPFailure(.usage, "the body is empty; write a JSON object, \(PanelFields.example(known))")
        }
        let value: JSON
        do throws(JSONReader.Problem) {
            value = try JSON(request.body, maxValues: Self.maxValues)
        } catch {
            throw HTTPFailure(.usage, "the body is not JSON: \(error); write an object, \(PanelFields.example(known))")
        }
        return try PanelFields(value, "the body", known)
    }
}

extension UInt64 {
    /// A number of digits only, as in commands: no sign, no decimal point, no spaces.
    init?(digits text: String) {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        self.init(text)
    }
}
