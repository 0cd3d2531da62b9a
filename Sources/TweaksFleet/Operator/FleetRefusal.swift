// Describes why an operator's command failed.

import Tweaks

/// Why a command failed or has an unknown result: subject, problem, remedy.
package struct FleetRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The fleet's state or etcd does not allow it.
        case refused
        /// The command is invalid.
        case usage
        /// etcd does not reply.
        case unreachable
    }

    package let kind: Kind
    package let description: String
    /// The underlying etcd error, if any.
    package let etcd: EtcdError?

    package init(_ kind: Kind = .refused, _ description: String, etcd: EtcdError? = nil) {
        (self.kind, self.description, self.etcd) = (kind, description, etcd)
    }
}

extension FleetRefusal {
    /// Describes an etcd error to an operator.
    /// - Parameter wasWriting: The reply to a write is missing, so it may have been applied.
    package init(_ error: EtcdError, wasWriting: Bool = false) {
        let (kind, text) = Self.meaning(of: error)
        let doubt = wasWriting && kind == .unreachable ? "; whether it was written is not known, look at history" : ""
        self.init(kind, "etcd: \(Quoting.sanitized(text))\(doubt)", etcd: error)
    }

    private static func meaning(of error: EtcdError) -> (Kind, String) {
        switch error {
        case .unreachable(let text): (.unreachable, "\(text); start it, or name another with --etcd URL")
        case .unavailable(let text): (.unreachable, "\(text); try again when it has a leader")
        case .unauthenticated(let text): (.refused, "\(text); name a user with --user and --password-file")
        case .forbidden(let text): (.refused, "\(text); ask for the operator's role on this prefix")
        case .noSpace(let text):
            (.refused, "\(text); compact and defragment it, then disarm its alarm. abort works meanwhile")
        case .compacted(let revision): (.refused, "what came before revision \(revision) is compacted; try again")
        case .futureRevision(let text): (.refused, "\(text); this is another etcd than before")
        case .leaseNotFound: (.refused, "the lease is gone; try again")
        case .tooLarge(let text): (.refused, text)
        case .refused(let text): (.refused, "it refused the request: \(text)")
        case .garbled(let text): (.refused, "\(text); is this etcd, and its JSON gateway on?")
        case .cancelled: (.unreachable, "interrupted")
        }
    }
}
