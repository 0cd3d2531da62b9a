// Computes the permissions of a session from granted and dropped scopes.

/// Permissions by kind of access and path of a tweak.
///
/// Implied permissions are expanded at initialization: `write` includes `read`, `admin` includes everything. Dropping
/// `read` for some tweaks also drops what implies it there: no session can write a tweak that it cannot read.
package struct Rights: Equatable, Sendable {
    /// The tweaks that one kind of access covers.
    fileprivate struct Extent: Equatable, Sendable {
        /// The tweaks of one grant, without those dropped from it.
        struct Part: Equatable, Sendable {
            /// Nil: everything.
            var patterns: [TweakPattern]?
            var exceptions: [TweakPattern] = []

            var isWhole: Bool { patterns == nil && exceptions.isEmpty }

            func contains(_ path: TweakPath) -> Bool {
                guard patterns?.contains(where: { $0.matches(path) }) ?? true else { return false }
                return !exceptions.contains { $0.matches(path) }
            }

            /// True if it covers the whole group, false if none of it, nil if part of it may be covered.
            func contains(_ group: TweakListing.Group) -> Bool? {
                let granted = patterns.map { Self.covers($0, group) } ?? true
                let excluded = Self.covers(exceptions, group)
                if granted == false || excluded == true { return false }
                return granted == true && excluded == false ? true : nil
            }

            private static func covers(_ patterns: [TweakPattern], _ group: TweakListing.Group) -> Bool? {
                var result: Bool? = false
                for pattern in patterns {
                    let progress = pattern.progress(in: group)
                    if pattern.matchesAll(progress) { return true }
                    if !progress.hasFailed { result = nil }
                }
                return result
            }
        }

        var parts: [Part] = []
        /// Cached, because every line checks it.
        private(set) var isWhole = false

        /// True if it covers the whole group, false if none of it, nil if part of it may be covered.
        func contains(_ group: TweakListing.Group) -> Bool? {
            if isWhole { return true }
            var result: Bool? = false
            for part in parts {
                switch part.contains(group) {
                case true?: return true
                case false?: break
                case nil: result = nil
                }
            }
            return result
        }

        mutating func add(_ others: [Part]) {
            parts += others.filter { !parts.contains($0) }
            isWhole = parts.contains(where: \.isWhole)
            if isWhole { parts = [Part()] }
        }
    }

    private var extents: [Extent] = TweakScope.Kind.allCases.map { _ in Extent() }
    /// Whether a token grants some of them: such a session knows how to sign in.
    package var hasToken = false

    /// No rights.
    package init() {}

    /// The rights that scopes grant, without dropped ones.
    package init(_ scopes: [TweakScope], without dropped: [TweakScope] = []) {
        for kind in TweakScope.Kind.allCases {
            let granting = scopes.filter { $0.kind.implied.contains(kind) }
            let excluding = dropped.filter { kind.implied.contains($0.kind) }
            if granting.isEmpty || excluding.contains(where: { $0.pattern == nil }) { continue }
            let isEverywhere = granting.contains { $0.pattern == nil }
            let part = Extent.Part(
                patterns: isEverywhere ? nil : Self.unique(granting.compactMap(\.pattern)),
                exceptions: excluding.compactMap(\.pattern))
            extents[kind.position].add([part])
        }
    }

    private static func unique(_ patterns: [TweakPattern]) -> [TweakPattern] {
        patterns.enumerated().filter { !patterns[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Everything.
    package static let all = Rights([.admin])

    /// The combination of both rights.
    package func union(_ other: Rights) -> Rights {
        var rights = self
        for index in extents.indices { rights.extents[index].add(other.extents[index].parts) }
        return rights
    }

    /// Whether this kind of access covers all tweaks, including future ones.
    package func isWhole(_ kind: TweakScope.Kind) -> Bool { extents[kind.position].isWhole }

    /// Whether this kind of access may cover at least one tweak.
    package func has(_ kind: TweakScope.Kind) -> Bool { !extents[kind.position].parts.isEmpty }

    /// Whether this kind of access covers the tweak with this path.
    package func allows(_ kind: TweakScope.Kind, _ path: TweakPath) -> Bool {
        let extent = extents[kind.position]
        return extent.isWhole || extent.parts.contains { $0.contains(path) }
    }

    /// Whether a tweak or action is visible with these rights.
    package func sees(_ node: TweakNode) -> Bool {
        allows(.read, node.path) || node.definition.kind == .action && allows(.run, node.path)
    }

    /// The same for a whole group; nil if it differs among its tweaks.
    func sees(_ group: TweakListing.Group) -> Bool? {
        let reading = extents[TweakScope.Kind.read.position].contains(group)
        if reading == true { return true }
        // `run` makes only actions visible.
        return reading == false && extents[TweakScope.Kind.run.position].contains(group) == false ? false : nil
    }

    /// Whether these rights include a scope. Conservative: only whole kinds and equal patterns count.
    package func covers(_ scope: TweakScope) -> Bool {
        scope.kind.implied.allSatisfy { kind in
            isWhole(kind)
                || extents[kind.position].parts.contains { part in
                    guard part.exceptions.isEmpty, let pattern = scope.pattern else { return false }
                    return part.patterns?.contains(pattern) ?? true
                }
        }
    }

    /// The scopes as `whoami` shows them, without implied ones; dropped scopes have a minus.
    package var words: [String] {
        TweakScope.Kind.allCases.flatMap { kind in
            extents[kind.position].parts.flatMap { words(kind, $0) }
        }
    }

    private func words(_ kind: TweakScope.Kind, _ part: Extent.Part) -> [String] {
        let implying = TweakScope.Kind.allCases.filter { $0 != kind && $0.implied.contains(kind) }
            .flatMap { extents[$0.position].parts }.filter { $0.exceptions == part.exceptions }
        if implying.contains(where: { $0.patterns == nil }) { return [] }
        let own = part.patterns?.filter { pattern in !implying.contains { $0.patterns?.contains(pattern) == true } }
        if own?.isEmpty == true { return [] }
        let given = own?.map { "\(kind.rawValue):\($0.text)" } ?? [kind.rawValue]
        return given + part.exceptions.map { "-\(kind.rawValue):\($0.text)" }
    }
}

extension TweakScope.Kind {
    /// The kinds that it includes, itself among them.
    package var implied: [TweakScope.Kind] {
        switch self {
        case .read: [.read]
        case .write: [.write, .read]
        case .run: [.run]
        case .admin: TweakScope.Kind.allCases
        }
    }

    fileprivate var position: Int {
        switch self {
        case .read: 0
        case .write: 1
        case .run: 2
        case .admin: 3
        }
    }
}

extension Rights {
    /// The error for a missing permission on one visible tweak.
    package func denied(_ kind: TweakScope.Kind, _ path: TweakPath) -> TweakError {
        let scope = Self.token("\(kind.rawValue):\(path.joined)")
        return denied("\(path.token): this session may \(text); request \(scope)", path)
    }

    /// The error with a reason and a first remedy, and with the other one for sessions without a token.
    package func denied(_ text: String, _ path: TweakPath? = nil) -> TweakError {
        TweakError(.denied, hasToken ? text : text + ", or sign in with a token", path: path)
    }

    /// The rights in protocol syntax, on one line.
    package var text: String { words.isEmpty ? "nothing" : words.map(Self.token).joined(separator: " ") }

    private static func token(_ scope: String) -> String { Quoting.needsQuotes(scope) ? Quoting.json(scope) : scope }
}
