/** Where a client comes from, for bounds that one subscriber is not to pass by changing its address. */

/** The address without its mapping to IPv6; of IPv6 the /64, all of which one subscriber has. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('::')
  const groups = head.split(':')
  return [...groups, ...(tail === undefined ? [] : ['0', '0', '0', '0'])].slice(0, 4).join(':')
}
