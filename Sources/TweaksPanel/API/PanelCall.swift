// A request whose route is known: its parameters, its query and its body, each judged when it is asked for.

import Tweaks
import TweaksWire

/// What the functions of the routes read from.
struct PanelCall {
    let request: HTTPRequest
    /// What stands in the path where its pattern has `{…}`, in order.
    let parameters: [String]

    /// - Throws: `usage` for a body where there is none to be.
    init(_ request: HTTPRequest, _ parameters: [String]) throws(HTTPFailure) {
        (self.request, self.parameters) = (request, parameters)
        if request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) { return }
        // Programs that send JSON always send this much.
        if request.method == "DELETE", (try? JSON(request.body)) == .object([]) { return }
        throw HTTPFailure(.usage, "\(request.method) takes no body here; leave it out")
    }

    /// The tweak that three parts of the path name.
    func tweak() throws(HTTPFailure) -> String {
        do throws(TweakError) {
            return try TweakPath(parameters[0], parameters[1], parameters[2]).joined
        } catch {
            throw HTTPFailure(error)
        }
    }

    // MARK: The query

    /// A parameter that comes once or not at all.
    func query(_ name: String) throws(HTTPFailure) -> String? {
        let values = request.values(name)
        if values.count > 1 {
            throw HTTPFailure(.usage, "the query: \(name) comes \(values.count) times; give it once")
        }
        return values.first
    }

    /// All patterns of the query; without any, the one that means everything.
    func patterns() -> [String] {
        let patterns = request.values("pattern")
        return patterns.isEmpty ? ["*"] : patterns
    }

    // MARK: The body

    /// More than the longest list of changes has.
    private static let mostValues = 50_000

    /// The fields of the body.
    func body(_ known: String...) throws(HTTPFailure) -> PanelFields { try body(known) }

    func body(_ known: [String]) throws(HTTPFailure) -> PanelFields {
        if request.body.isEmpty {
            throw HTTPFailure(.usage, "the body is empty; write a JSON object, \(PanelFields.example(known))")
        }
        let value: JSON
        do throws(JSONReader.Problem) {
            value = try JSON(request.body, most: Self.mostValues)
        } catch {
            throw HTTPFailure(.usage, "the body is no JSON: \(error); write an object, \(PanelFields.example(known))")
        }
        return try PanelFields(value, "the body", known)
    }
}

extension UInt64 {
    /// A number of digits alone, as the commands take it: no sign, no point, no blank.
    init?(digits text: String) {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        self.init(text)
    }
}
