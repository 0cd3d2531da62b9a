// Re-exports the settings and events of a server.

@_exported public import TweaksInterface
