/** Writes PROXY protocol headers as a proxy sends them. */

/** Version 1 with the addresses of a client and of the proxy. */
export function textHeader(source: string, target = source): Buffer {
  const family = source.includes(':') ? 'TCP6' : 'TCP4'
  return Buffer.from(`PROXY ${family} ${source} ${target} 56324 5433\r\n`)
}

export const proxySignature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

/** Version 2: command and family as bytes, then what they announce. */
export function binaryHeader(
  command: number,
  family: number,
  body: Uint8Array,
  length = body.length,
): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(4)
  head[0] = command
  head[1] = family
  head.writeUInt16BE(length, 2)
  return Buffer.concat([proxySignature, head, body])
}

/** Version 2 of a client's IPv4 address. */
export function ipv4Header(source: string, extensions: Uint8Array = new Uint8Array()): Buffer<ArrayBuffer> {
  const addresses = Buffer.from([...source.split('.').map(Number), 10, 0, 0, 1, 0xdc, 0x04, 0x15, 0x39])
  return binaryHeader(0x21, 0x11, Buffer.concat([addresses, extensions]))
}

/** Version 2 of a client's IPv6 address, given as 32 hexadecimal digits. */
export function ipv6Header(digits: string): Buffer<ArrayBuffer> {
  const source = Buffer.from(digits, 'hex')
  return binaryHeader(0x21, 0x21, Buffer.concat([source, source, Buffer.alloc(4)]))
}
