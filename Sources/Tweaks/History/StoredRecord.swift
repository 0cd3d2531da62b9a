// A commit as the storage keeps it: paths instead of tweaks, values that nobody has judged yet.

/// An entry of the history, of this run or an earlier one.
package struct StoredRecord: Sendable, Equatable {
    /// Whether it can be taken back or made again.
    package enum Status: String, Sendable {
        case done
        case undone
        /// Taken back for good.
        case dropped
    }

    /// One tweak's part. Of a secret there are no values.
    package struct Part: Sendable, Equatable {
        package let path: TweakPath
        package let isSecret: Bool
        /// The current value before and after.
        package let old: TweakValue?
        package let new: TweakValue?
        /// What was set before and after.
        package let before: Layers
        package let after: Layers

        package init(
            path: TweakPath, isSecret: Bool = false, old: TweakValue? = nil, new: TweakValue? = nil,
            before: Layers = Layers(), after: Layers = Layers()
        ) {
            (self.path, self.isSecret, self.old, self.new) = (path, isSecret, old, new)
            (self.before, self.after) = (before, after)
        }
    }

    /// Override and temporary override; nil: none.
    package struct Layers: Sendable, Equatable {
        package var override: TweakValue?
        package var temporary: Temporary?

        package init(override: TweakValue? = nil, temporary: Temporary? = nil) {
            (self.override, self.temporary) = (override, temporary)
        }
    }

    /// A temporary override: its value, when it was set, and when it ends.
    package struct Temporary: Sendable, Equatable {
        package let value: TweakValue
        package let time: ContinuousClock.Instant
        package let expires: ContinuousClock.Instant

        package init(_ value: TweakValue, time: ContinuousClock.Instant, expires: ContinuousClock.Instant) {
            (self.value, self.time, self.expires) = (value, time, expires)
        }
    }

    /// Rises from record to record.
    package let number: UInt64
    package let revision: UInt64
    package let time: ContinuousClock.Instant
    package let origin: TweakOrigin
    package let kind: CommitKind
    package var status: Status
    package let parts: [Part]

    package init(
        number: UInt64, revision: UInt64, time: ContinuousClock.Instant, origin: TweakOrigin, kind: CommitKind,
        status: Status, parts: [Part]
    ) {
        (self.number, self.revision, self.time, self.origin) = (number, revision, time, origin)
        (self.kind, self.status, self.parts) = (kind, status, parts)
    }
}

extension StoredRecord {
    /// - Parameter secrets: Whose values are kept out.
    init(_ record: History.Record, secrets: (History.Subject) -> Bool) {
        self.init(
            number: record.number, revision: record.revision, time: record.time, origin: record.origin,
            kind: record.kind, status: Status(record.status),
            parts: record.parts.map { secrets($0.subject) ? Part(path: $0.subject.path, isSecret: true) : Part($0) })
    }
}

extension StoredRecord.Status {
    fileprivate init(_ status: History.Record.Status) {
        switch status {
        case .done: self = .done
        case .undone: self = .undone
        case .dropped: self = .dropped
        }
    }
}

extension StoredRecord.Part {
    fileprivate init(_ part: History.Part) {
        self.init(
            path: part.subject.path, old: part.old, new: part.new,
            before: .init(part.before), after: .init(part.after))
    }
}

extension StoredRecord.Layers {
    fileprivate init(_ values: SetValues) {
        self.init(
            override: values.override,
            temporary: values.temporary.map { .init($0.value, time: $0.time, expires: $0.expires) })
    }
}

extension SetValues {
    fileprivate init(_ layers: StoredRecord.Layers) {
        self.init(
            override: layers.override,
            temporary: layers.temporary.map { Temporary($0.value, time: $0.time, expires: $0.expires) })
    }
}

extension History.Record {
    init(_ stored: StoredRecord) {
        let status: Status =
            switch stored.status {
            case .done: .done
            case .undone: .undone
            case .dropped: .dropped
            }
        self.init(
            number: stored.number, revision: stored.revision, time: stored.time, origin: stored.origin,
            kind: stored.kind, parts: stored.parts.map { History.Part($0) }, status: status)
    }
}

extension History.Part {
    fileprivate init(_ part: StoredRecord.Part) {
        self.init(
            subject: .earlier(.init(part.path, isSecret: part.isSecret)), before: SetValues(part.before),
            after: SetValues(part.after),
            old: part.old, new: part.new)
    }
}
