// Whoever imports TweaksDaemon gets what its calls take: tweaks, and the settings of server and panel.

@_exported public import Tweaks
@_exported public import TweaksPanel
@_exported public import TweaksServer
