// Exports what the daemon's calls take: tweaks, and the settings of server and panel.

@_exported public import Tweaks
@_exported public import TweaksPanel
@_exported public import TweaksServer
