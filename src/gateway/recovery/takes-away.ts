/**
 * Says whether audited requests took snapshots or properties away from a table. It reads little, because this runs while
 * clients wait: what it does not read may have taken something away.
 */

import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { isJsonObject } from '../../base/json.ts'
import { nextTurn } from '../../base/turn.ts'
import { parseCommitRequest } from '../../wire/iceberg/commit-request.ts'

/** Requests that are looked into at most. Each may take a moment to parse. */
export const requestsMax = 20
/** Bytes of a request once decompressed. Longer ones add data files. */
const plainBytesMax = 256 * 1024

const decompress = promisify(zstdDecompress)

/** @param bodies compressed by zstd; undefined for those that were not read */
export async function anyTakesAway(bodies: readonly (Uint8Array | undefined)[]): Promise<boolean> {
  if (bodies.length > requestsMax || bodies.includes(undefined)) return true
  for (const body of bodies) {
    if (body === undefined || (await takesAway(body))) return true
    await nextTurn()
  }
  return false
}

async function takesAway(body: Uint8Array): Promise<boolean> {
  try {
    const { updates } = parseCommitRequest(await decompress(body, { maxOutputLength: plainBytesMax }))
    return updates.filter(isJsonObject).some((update) => actions.has(String(update.get('action'))))
  } catch {
    return true
  }
}

const actions: ReadonlySet<string> = new Set(['remove-snapshots', 'remove-properties'])
