/**
 * What Covenant says in a document of Apache Ossie beyond its members: in `custom_extensions`, under the vendor `COMMON`,
 * because the schema of 0.1.1 has a closed list of vendors. The data is JSON with the one member `covenant`.
 */

import { isPlain, type Members, membersOf, type Plain } from './members.ts'

export const ossieVersion = '0.1.1'
const vendor = 'COMMON'

/** The extension with these values. */
export function extension(values: object) {
  return { vendor_name: vendor, data: JSON.stringify({ covenant: values }) }
}

/** Whether an entry of `custom_extensions` is ours. */
export function isOurs(entry: unknown): boolean {
  return oursOf(entry) !== undefined
}

function oursOf(entry: unknown): Plain | undefined {
  if (!isPlain(entry) || entry.vendor_name !== vendor || typeof entry.data !== 'string') return undefined
  try {
    const data: unknown = JSON.parse(entry.data)
    const ours = isPlain(data) && Object.keys(data).length === 1 ? data.covenant : undefined
    return isPlain(ours) ? ours : undefined
  } catch {
    return undefined
  }
}

/**
 * What is ours of an object; the extensions of others are listed as kept.
 * @param lost where problems of the extension itself are listed
 */
export function takeExtension(members: Members, lost: Parameters<typeof membersOf>[2]): Members | undefined {
  const all = members.any('custom_extensions')
  if (all === undefined) return undefined
  const entries = Array.isArray(all) ? all : [all]
  const own = entries.map(oursOf).find((one) => one !== undefined)
  if (entries.some((entry) => !isOurs(entry))) members.lose(keptOnly, 'custom_extensions')
  return own && membersOf(own, `${members.at}/custom_extensions`, lost)
}

export const keptOnly = 'It is kept for the export in this format, and has no other effect'
