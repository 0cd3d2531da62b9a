// Sums up the audit items that share a line: how many, from which value to which, and the values between.

import Tweaks
import TweaksWire

/// Items with equal keys; the first has a line of its own, too.
struct AuditFold {
    let begun: ContinuousClock.Instant
    private(set) var last: AuditItem
    private(set) var count: Int
    /// Whether items about different objects are among them.
    private(set) var isMixed: Bool
    /// The revision of the first change, and the value before it.
    let firstRevision: UInt64?
    let firstOld: AuditValue?
    private(set) var values = AuditedValues()
    /// Whether the client has used several display names meanwhile.
    private(set) var hasSeveralNames = false

    init(_ item: AuditItem) {
        begun = item.time
        last = item.last
        count = item.count
        isMixed = item.isMixed
        guard case .change(let commit, let change, _) = item.content else {
            firstRevision = nil
            firstOld = nil
            return
        }
        firstRevision = commit.revision
        firstOld = change.old.map { AuditValue(cut: $0) }
        change.new.map { values.add($0) }
    }

    mutating func add(_ item: AuditItem) {
        hasSeveralNames = hasSeveralNames || item.by != last.by
        last = item.last
        count += item.count
        isMixed = isMixed || item.isMixed
        if case .change(_, let change, _) = item.content { change.new.map { values.add($0) } }
    }

    /// Its approximate size in memory, in bytes.
    var weight: Int { 512 + last.weight + values.weight }
}

/// The values that a tweak had during a fold.
struct AuditedValues {
    /// The maximum number of values that are listed, except for bools and choices.
    private static let limit = 8

    private(set) var lowest: TweakValue?
    private(set) var highest: TweakValue?
    private(set) var listed: [AuditValue] = []
    /// The hashes of the listed values: long texts are not kept.
    private var hashes: Set<Int> = []
    /// The number of changes to values that are not listed.
    private(set) var others = 0

    var weight: Int { 256 * listed.count }

    mutating func add(_ value: TweakValue) {
        if value.isOrdered {
            if lowest.map({ value.isBelow($0) }) ?? true { lowest = value }
            if highest.map({ $0.isBelow(value) }) ?? true { highest = value }
        }
        let hash = value.hashValue
        if hashes.contains(hash) { return }
        // Bools and choices cannot have more values than their definition names.
        let isNamed = value.kind == .bool || value.kind == .choice
        if !isNamed, listed.count >= Self.limit { return others += 1 }
        hashes.insert(hash)
        listed.append(AuditValue(cut: value))
    }
}

extension TweakValue {
    fileprivate var isOrdered: Bool {
        switch self {
        case .int, .unsigned, .number, .duration: true
        case .bool, .string, .color, .choice, .point, .list, .notSet: false
        }
    }

    fileprivate func isBelow(_ other: TweakValue) -> Bool {
        if case (.number(let value), .number(let other)) = (self, other) { return value < other }
        // Nil for a duration without an exact text, which no tweak has.
        return (whole ?? 0) < (other.whole ?? 0)
    }
}

/// The JSON of a value in an audit line.
struct AuditValue {
    /// A longer value is cut, and named by its digest.
    private static let maxBytes = 64

    let bytes: [UInt8]

    /// The whole value; null if it has no exact text, which no tweak can have.
    init(_ value: TweakValue) {
        var bytes: [UInt8] = []
        if !bytes.append(stored: value) { bytes.append("null") }
        self.bytes = bytes
    }

    /// A value of at most 64 bytes as it is, a longer one as `{"start":"…","bytes":1500,"sha256":"…"}`.
    init(cut value: TweakValue) {
        let whole: AuditValue?
        let text: String
        switch value {
        case .string(let string), .choice(let string): (text, whole) = (string, nil)
        default:
            let json = AuditValue(value)
            text = String(decoding: json.bytes, as: UTF8.self)
            whole = json
        }
        if text.utf8.count <= Self.maxBytes {
            self = whole ?? AuditValue(value)
            return
        }
        var bytes = Array("{\"start\":".utf8)
        bytes.append(json: Self.start(of: text))
        bytes.append(",\"bytes\":\(text.utf8.count),\"sha256\":\"")
        bytes += AuditChain.hexadecimal(SHA256.digest(text.utf8))
        bytes.append("\"}")
        self.bytes = bytes
    }

    /// As many whole characters as fit.
    private static func start(of text: String) -> String {
        var start = ""
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            if count > maxBytes { break }
            start.unicodeScalars.append(scalar)
        }
        return start
    }
}
