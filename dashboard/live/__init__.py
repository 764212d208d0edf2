"""The web socket: streams of messages to browsers, each as quick as its browser, none slower than it must be."""
