// Exports what the daemon's calls take: tweaks, and what a program says to the server and hears from it.

@_exported public import Tweaks
@_exported public import TweaksInterface
