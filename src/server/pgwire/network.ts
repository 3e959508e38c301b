/** Maps a client's address to its network, so that a subscriber cannot pass limits by changing its address. */

/** An IPv4 address without its mapping to IPv6; for IPv6 the /64, because one subscriber has all of it. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('::')
  const groups = head.split(':')
  return [...groups, ...(tail === undefined ? [] : ['0', '0', '0', '0'])].slice(0, 4).join(':')
}
