// Declares the hook for connections to etcd that this package does not make itself, such as those with TLS.

/// Connects to the members of etcd whose URLs begin with `https://`.
///
/// This package speaks no TLS: on Linux nothing in the toolchain does with a certificate authority of your own. A program
/// that has a TLS library can pass a connector, which returns one end of a socket pair, encrypts what is written there, and
/// decrypts what comes back. Members with `http://` are connected to without it.
///
/// ```swift
/// struct Secure: EtcdConnector {
///     func connect(host: String, port: Int) throws -> Int32 { try openTLS(host, port) }
/// }
/// let source = TweakDaemon.Source.etcd("https://etcd.example.org:2379", connector: Secure())
/// ```
public protocol EtcdConnector: Sendable {
    /// Connects to a member and proves who it is, by the name `host`.
    ///
    /// It is called on a thread of its own for each connection, which blocks meanwhile; several calls can run at once. A
    /// request fails after five seconds, with its connection, so a connector should give up earlier with an error of its own.
    /// - Parameters:
    ///   - host: The host of the URL: a name, or an address without brackets.
    ///   - port: The port of the URL, 1...65535; 443 where it has none.
    /// - Returns: The descriptor of a connected stream socket, which the package closes.
    /// - Throws: Why there is no connection; the text of the error is shown behind the URL of the member.
    func connect(host: String, port: Int) throws -> Int32
}
