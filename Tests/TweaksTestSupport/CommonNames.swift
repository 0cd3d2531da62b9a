// Declares types with common names, so that tests can check that importing Tweaks does not make them ambiguous.

/// Another module's type.
public struct RetryPolicy: Equatable {
    /// A policy.
    public init() {}
}

/// Another module's type.
public struct Spring: Equatable {
    /// A spring.
    public init() {}
}

/// Another module's type.
public struct Timeouts: Equatable {
    /// Timeouts.
    public init() {}
}

/// Another module's type.
public struct RateLimit: Equatable {
    /// A limit.
    public init() {}
}

/// Another module's type.
public struct Shadow: Equatable {
    /// A shadow.
    public init() {}
}

/// Another module's type.
public struct Ease: Equatable {
    /// A curve.
    public init() {}
}
