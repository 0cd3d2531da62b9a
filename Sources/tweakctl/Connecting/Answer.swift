// Reads the answers of a server: the text that is shown, and the fields that say what it means.

import Tweaks
import TweaksSystem
import TweaksWire

/// A complete message of a server.
enum ServerMessage: Equatable {
    case answer(Answer)
    case event(String)
}

/// The answer to one request. Its text is shown and never searched for words: what tweakctl has to know is in the fields,
/// which an answer in JSON has. An older server does not send both; then its text is shown as it is.
struct Answer: Equatable {
    var body: [String]
    var status: String
    var isRefusal: Bool
    /// The object that the text came with.
    var fields: JSON?
    /// Whether fields were requested, and the server does not send any.
    var lacksFields = false

    /// Makes a server send the text of each answer as a field of its JSON.
    static let fieldsRequest = "json text"

    /// The same answer with its object parsed, and the text in it as body and status.
    var withFields: Answer {
        var answer = self
        guard status.hasPrefix("{") else {
            answer.lacksFields = true
            return answer
        }
        guard let json = JSON(status) else {
            answer.isRefusal = true
            answer.status = "error closing the server cut its answer; ask again"
            return answer
        }
        answer.fields = json
        answer.isRefusal = json["error"] != nil
        let lines = json["text"]?.elements.compactMap(\.string).map(Quoting.sanitized)
        if let error = json["error"], json["ok"]?.isTrue == true {
            // It began as a success, and the error at its end says why the rest is missing.
            answer.body = lines ?? []
            let words = [error["code"]?.string, error["message"]?.string].compactMap(\.self)
            answer.status = "error \(Quoting.sanitized(words.joined(separator: " ")))"
        } else if let lines {
            answer.body = Array(lines.dropLast())
            answer.status = lines.last ?? ""
        }
        return answer
    }

    /// The text of an event in JSON, if it has one.
    static func text(ofEvent line: String) -> String {
        guard line.hasPrefix("{"), let text = JSON(line)?["text"]?.string else { return line }
        return Quoting.sanitized(text)
    }

    /// A copy with another body.
    func replacing(body: [String]) -> Answer {
        var answer = self
        answer.body = body
        return answer
    }

    // MARK: Fields

    /// The object of an answer in JSON.
    private var json: JSON? { fields ?? (status.hasPrefix("{") ? JSON(status) : nil) }

    /// A field of an answer in JSON.
    subscript(_ name: String) -> JSON? { json?[name] }

    /// The tweaks that it shows.
    var tweaks: [JSON] { self["tweaks"]?.elements ?? [] }

    /// The text of a field; in text, of a `  name: value` line.
    func field(_ name: String) -> String? {
        switch self[name] {
        case .string(let text)?: Quoting.sanitized(text)
        case .array?, .object?, .null?: nil
        case let value?: value.text
        case nil: body.first { $0.hasPrefix("  \(name): ") }.map { String($0.dropFirst(name.utf8.count + 4)) }
        }
    }

    /// The revision of `ok rev N…`.
    var revision: UInt64? {
        if status.hasPrefix("{") { return self["rev"]?.wholeNumber }
        let words = status.split(separator: " ")
        return words.count >= 3 && words[1] == "rev" ? UInt64(words[2]) : nil
    }

    /// Whether a request changed nothing.
    var isUnchanged: Bool { self["unchanged"]?.isTrue ?? false }

    /// Whether it was added to a batch.
    var isQueued: Bool { self["queued"]?.isTrue ?? false }

    /// Why a change that is in effect may be lost.
    var warning: String? {
        let reasons = [("unaudited", "not in the audit"), ("unsaved", "not saved")].compactMap { field, words in
            self[field]?.string.map { "\(words): \(Quoting.sanitized($0))" }
        }
        return reasons.isEmpty ? nil : "in effect, but \(reasons.joined(separator: "; "))"
    }

    // MARK: Words

    /// The words after `ok rev N`, if they are more than a keyword and say more than the fields that are shown otherwise.
    var remark: String? {
        if warning != nil || self["watching"] != nil { return nil }
        let words = remarkWords
        return words.count < 2 ? nil : words.joined(separator: " ")
    }

    /// Why the answer to a change shows none; nil if it shows one, or says more itself.
    func inaction(_ request: String) -> String? {
        if self["dry"]?.isTrue == true { return body.isEmpty ? "a reload would change nothing" : nil }
        guard isUnchanged, remarkWords.count < 2, warning == nil else { return nil }
        return switch CommandText.command(of: request) {
        case .set: "unchanged: it has that value already"
        case .reset: "unchanged: there is no override to remove"
        case .reload: "unchanged: the config file sets the same values"
        default: "nothing has changed"
        }
    }

    /// Why the answer to a query is empty; nil if it is not.
    func emptiness(_ request: String) -> String? {
        guard body.isEmpty, !isRefusal, remarkWords.count < 2 else { return nil }
        return switch CommandText.command(of: request) {
        case .find: "nothing found"
        case .modified: "nothing is modified"
        case .ls: "nothing to list"
        case .get: "nothing to show"
        case .export: "nothing to export"
        case .history: "nothing has changed yet"
        case .presets: "there are no presets"
        case .conflicts: "there are no conflicts"
        case .diff: "there is no difference"
        default: nil
        }
    }

    private var remarkWords: ArraySlice<Substring> {
        if status.hasPrefix("{") { return [] }
        let words = status.split(separator: " ").dropFirst()
        return words.first == "rev" ? words.dropFirst(2) : words
    }

    /// What a command has done, in the server's words; nil where it has none.
    var resultText: String? {
        if let name = self["swapped"]?.string { return "swapped to \(Quoting.sanitized(name))" }
        let words = isUnchanged ? remarkWords.dropFirst() : remarkWords
        return words.count < 2 || warning != nil ? nil : words.joined(separator: " ")
    }

    /// The lines of the body that show no tweak.
    var rows: [String] { body.filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) } }

    /// The lines of the body, without their indentation.
    var lines: [String] { body.map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : $0 } }

    // MARK: Refusals

    /// The lines that caused a refusal.
    var problems: [String] {
        if !body.isEmpty { return lines }
        let all = self["problems"]?.elements ?? []
        return all.compactMap { $0["message"]?.string.map(Quoting.sanitized) }
    }

    /// The error code, if the protocol defines it.
    var errorCode: TweakError.Code? {
        if let code = self["error"]?["code"]?.string { return TweakError.Code(rawValue: code) }
        let words = status.split(separator: " ", maxSplits: 2)
        return words.count > 1 && words[0] == "error" ? TweakError.Code(rawValue: String(words[1])) : nil
    }

    /// The code and the text of a refusal: `CODE: words`.
    var complaint: String {
        if let error = self["error"] {
            return Quoting.sanitized("\(error["code"]?.string ?? "error"): \(error["message"]?.string ?? "")")
        }
        let words = status.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[0] == "error" else { return status }
        return "\(words[1]): \(words[2])"
    }

    /// The text of a refusal, without the code.
    var reason: String {
        guard let colon = complaint.firstRange(of: ": ") else { return complaint }
        return String(complaint[colon.upperBound...])
    }

    /// The same, without the remedy at its end.
    var reasonAlone: String {
        guard let remedy = reason.ranges(of: "; ").last else { return reason }
        return String(reason[..<remedy.lowerBound])
    }

    /// Whether the same request is carried out if it is forced.
    var canBeForced: Bool { self["error"]?["force"]?.isTrue ?? false }
}
