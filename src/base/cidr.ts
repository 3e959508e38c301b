/** Parses address ranges in CIDR notation (RFC 4632, RFC 4291) for the BlockList of `node:net`. */

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

export interface Cidr {
  readonly family: 'ipv4' | 'ipv6'
  readonly address: string
  /** Leading bits that are compared: 0–32 for ipv4, 0–128 for ipv6. */
  readonly prefixLength: number
}

/**
 * Parses one range.
 * @param text `10.0.0.0/8`, `fd00::/8`, or a single address, which is a range of one
 * @returns undefined where `text` is neither
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) && !address.includes('%') ? 'ipv6' : undefined
  if (family === undefined || rest.length > 0) return undefined
  const bits = family === 'ipv4' ? 32 : 128
  if (prefix === undefined) return { family, address, prefixLength: bits }
  if (!/^(0|[1-9][0-9]{0,2})$/.test(prefix) || Number(prefix) > bits) return undefined
  return { family, address, prefixLength: Number(prefix) }
}

/** The ranges as one list to check addresses against. It also matches v4-mapped addresses. */
export function blockList(ranges: readonly Cidr[]): BlockList {
  const list = new BlockList()
  for (const { address, prefixLength, family } of ranges) list.addSubnet(address, prefixLength, family)
  return list
}

/** Whether an address is in one of the ranges. What is no address is in none. */
export function contains(ranges: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && ranges.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
