/** Whether a host name or address can only mean this machine (RFC 6761 section 6.3; 127.0.0.0/8; ::1). */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** The host of `host:port`, where an IPv6 address stands in brackets. */
export function hostOf(hostAndPort: string): string {
  return hostAndPort.slice(0, hostAndPort.lastIndexOf(':'));
}
