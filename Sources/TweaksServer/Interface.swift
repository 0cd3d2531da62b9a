// Exports the settings and events of a server together with it.

@_exported public import TweaksInterface
