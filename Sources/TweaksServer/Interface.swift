// Who imports the server has what is said to it, too.

@_exported public import TweaksInterface
