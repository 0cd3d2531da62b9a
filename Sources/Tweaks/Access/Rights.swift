// What a session may do: scopes given, scopes given up, and what follows from them.

/// Rights, judged by the path of a tweak.
///
/// What is implied is spelled out when they are made: `write` brings `read`, `admin` brings everything. Giving up `read`
/// somewhere gives up there what implies it, too: nobody writes what he may not see.
package struct Rights: Equatable, Sendable {
    /// Where one kind of access reaches.
    fileprivate struct Extent: Equatable, Sendable {
        /// What was given in one go, without what was given up of it.
        struct Part: Equatable, Sendable {
            /// Nil: everything.
            var patterns: [TweakPattern]?
            var exceptions: [TweakPattern] = []

            var isWhole: Bool { patterns == nil && exceptions.isEmpty }

            func contains(_ path: TweakPath) -> Bool {
                guard patterns?.contains(where: { $0.matches(path) }) ?? true else { return false }
                return !exceptions.contains { $0.matches(path) }
            }

            /// Whether it reaches all of a group, or nothing of it; nil: it depends.
            func contains(_ group: TweakListing.Group) -> Bool? {
                let given = patterns.map { Self.reach($0, group) } ?? true
                let taken = Self.reach(exceptions, group)
                if given == false || taken == true { return false }
                return given == true && taken == false ? true : nil
            }

            private static func reach(_ patterns: [TweakPattern], _ group: TweakListing.Group) -> Bool? {
                var result: Bool? = false
                for pattern in patterns {
                    let progress = pattern.progress(in: group)
                    if pattern.takesAll(progress) { return true }
                    if !progress.hasFailed { result = nil }
                }
                return result
            }
        }

        var parts: [Part] = []
        /// Asked for every line.
        private(set) var isWhole = false

        /// Whether it reaches all of a group, or nothing of it; nil: it depends.
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

    /// None.
    package init() {}

    /// What scopes give, and what is left of it when some are given up.
    package init(_ scopes: [TweakScope], without dropped: [TweakScope] = []) {
        for kind in TweakScope.Kind.allCases {
            let giving = scopes.filter { $0.kind.implied.contains(kind) }
            let taking = dropped.filter { kind.implied.contains($0.kind) }
            if giving.isEmpty || taking.contains(where: { $0.pattern == nil }) { continue }
            let isEverywhere = giving.contains { $0.pattern == nil }
            let part = Extent.Part(
                patterns: isEverywhere ? nil : Self.unique(giving.compactMap(\.pattern)),
                exceptions: taking.compactMap(\.pattern))
            extents[kind.position].add([part])
        }
    }

    private static func unique(_ patterns: [TweakPattern]) -> [TweakPattern] {
        patterns.enumerated().filter { !patterns[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Everything.
    package static let all = Rights([.admin])

    /// These and others.
    package func union(_ other: Rights) -> Rights {
        var rights = self
        for index in extents.indices { rights.extents[index].add(other.extents[index].parts) }
        return rights
    }

    /// Whether this kind of access is had to all tweaks, those of the future included.
    package func isWhole(_ kind: TweakScope.Kind) -> Bool { extents[kind.position].isWhole }

    /// Whether this kind of access may be had to some tweak.
    package func has(_ kind: TweakScope.Kind) -> Bool { !extents[kind.position].parts.isEmpty }

    /// Whether this kind of access is had to the tweak with this path.
    package func allows(_ kind: TweakScope.Kind, _ path: TweakPath) -> Bool {
        let extent = extents[kind.position]
        return extent.isWhole || extent.parts.contains { $0.contains(path) }
    }

    /// Whether a tweak or action is there at all for whoever has these rights.
    package func sees(_ node: TweakNode) -> Bool {
        allows(.read, node.path) || node.definition.kind == .action && allows(.run, node.path)
    }

    /// The same for a whole group, where that is the same for all its tweaks; nil: it is not.
    func sees(_ group: TweakListing.Group) -> Bool? {
        let reading = extents[TweakScope.Kind.read.position].contains(group)
        if reading == true { return true }
        // What may be run is seen only where it is an action.
        return reading == false && extents[TweakScope.Kind.run.position].contains(group) == false ? false : nil
    }

    /// Whether all of another's rights are among these; only whole kinds and equal parts are known to be.
    package func covers(_ scope: TweakScope) -> Bool {
        scope.kind.implied.allSatisfy { kind in
            isWhole(kind)
                || extents[kind.position].parts.contains { part in
                    guard part.exceptions.isEmpty, let pattern = scope.pattern else { return false }
                    return part.patterns?.contains(pattern) ?? true
                }
        }
    }

    /// As `whoami` shows them: only what does not follow from another one; what was given up has a minus.
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
    /// What comes with it, itself included.
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
