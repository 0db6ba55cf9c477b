// Makes the guard's proxy the only way out of a browser: no connection, name or datagram leaves beside it.

/** Arguments for Chromium. */
export function egressArguments(proxyPort: number): string[] {
  return [
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    // Chromium connects to loopback without the proxy unless told otherwise.
    "--proxy-bypass-list=<-loopback>",
    // The proxy resolves names; whatever does not use it resolves none.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    // WebRTC would send datagrams by itself. The second name is that of older versions.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  ];
}
