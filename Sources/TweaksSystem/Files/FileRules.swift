// Defines who may own a file and which permissions other users may have.

/// The requirements for accepting a file. It must always be a regular file.
package struct FileRules: Sendable {
    /// The accepted owners.
    package enum Owners: Sendable {
        case anyone
        case user
        case userOrRoot
        /// The same; but a process of root accepts every owner, since root administers all users' files.
        case userOrRootOrAnyoneForRoot
    }

    private let owners: Owners
    private let forbidden: UInt32
    private let groupMayReadRoots: Bool

    /// - Parameters:
    ///   - forbidden: Mode bits that must not be set.
    ///   - groupMayReadRoots: Root's file may be readable for this process's group, as is usual for a service's
    ///     secrets.
    package init(_ owners: Owners = .userOrRoot, forbidden: UInt32 = 0, groupMayReadRoots: Bool = false) {
        (self.owners, self.forbidden, self.groupMayReadRoots) = (owners, forbidden, groupMayReadRoots)
    }

    /// The reason to reject a file; nil if it is accepted.
    package func fault(_ info: FileInfo) -> FileProblem.Fault? {
        if info.kind != .regular { return .kind(info.kind) }
        if !allow(info.owner) { return .owner(info.owner) }
        let (user, group) = (ThisProcess.user, ThisProcess.group)
        let isShared = groupMayReadRoots && info.owner == 0 && user != 0 && info.group == group && group != 0
        let isOpen = info.mode & (isShared ? forbidden & ~0o040 : forbidden) != 0
        return isOpen ? .mode(info.mode & 0o777) : nil
    }

    /// The reason to reject a directory: other users must not be able to replace files in it.
    package func fault(ofFolder info: FileInfo) -> FileProblem.Fault? {
        if !allow(info.owner) { return .owner(info.owner) }
        return info.isOpenToOthers ? .mode(info.mode & 0o777) : nil
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
