// Exports the modules whose types the daemon's API uses.

@_exported public import Tweaks
@_exported public import TweaksInterface
