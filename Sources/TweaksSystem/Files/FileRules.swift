// Rules say whose a file may be, and which rights others may have to it.

/// What a file has to be like to be taken. It is always a regular one.
package struct FileRules: Sendable {
    /// Whose it may be.
    package enum Owners: Sendable {
        case anyone
        case user
        case userOrRoot
        /// The same; but root looks after the files of all.
        case userOrRootOrAnyoneForRoot
    }

    private let owners: Owners
    private let forbidden: UInt32
    private let groupMayReadRoots: Bool

    /// - Parameters:
    ///   - forbidden: Mode bits that it must not have.
    ///   - groupMayReadRoots: Root keeps a service's secrets where the service reads them by its group.
    package init(_ owners: Owners = .userOrRoot, forbidden: UInt32 = 0, groupMayReadRoots: Bool = false) {
        (self.owners, self.forbidden, self.groupMayReadRoots) = (owners, forbidden, groupMayReadRoots)
    }

    /// What speaks against a file.
    package func fault(_ facts: FileFacts) -> FileProblem.Fault? {
        if facts.kind != .regular { return .kind(facts.kind) }
        if !allow(facts.owner) { return .owner(facts.owner) }
        let (user, group) = (ThisProcess.user, ThisProcess.group)
        let isShared = groupMayReadRoots && facts.owner == 0 && user != 0 && facts.group == group && group != 0
        let isOpen = facts.mode & (isShared ? forbidden & ~0o040 : forbidden) != 0
        return isOpen ? .mode(facts.mode & 0o777) : nil
    }

    /// What speaks against a directory: others must not be able to put a file of theirs in the place of ours.
    package func fault(ofFolder facts: FileFacts) -> FileProblem.Fault? {
        if !allow(facts.owner) { return .owner(facts.owner) }
        return facts.isOpenToOthers ? .mode(facts.mode & 0o777) : nil
    }

    private func allow(_ owner: UInt32) -> Bool {
        switch owners {
        case .anyone: true
        case .user: owner == ThisProcess.user
        case .userOrRoot: ThisProcess.trusts(owner)
        case .userOrRootOrAnyoneForRoot: ThisProcess.trusts(owner) || ThisProcess.user == 0
        }
    }
}
