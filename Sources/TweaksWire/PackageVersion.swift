// Names the version of this package, and that of its protocol.

/// The versions that clients and metrics show.
package enum PackageVersion {
    package static let text = "1.0"
    /// The version of the protocol.
    package static let wire = "1"
}
