/**
 * Builds what a writer with no right to a table can write of it: metadata in a folder of their own that names the other
 * table's files, from one layer on down. Both folders' names have the same length, so only the content of files is replaced, not their form.
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { IcebergWriter } from '../../demo/lake/iceberg-writer.ts'

/** The first layer that is not the forger's own. */
export const stolenLayers = ['manifest-list', 'manifests', 'files'] as const
export type StolenLayer = (typeof stolenLayers)[number]

export interface Forged {
  readonly folder: string
  readonly metadataLocation: string
  readonly manifestList: string
}

/**
 * Writes the forged table beside the other.
 * @param victim a table in the folder `tables`, below the name `from`
 * @param to the forger's folder, a name as long as `from`
 * @param spell changes how the metadata file spells the manifest list's location
 */
export function forgeTable(
  victim: IcebergWriter,
  { tables, from, to }: { readonly tables: string; readonly from: string; readonly to: string },
  stolen: StolenLayer,
  spell: (location: string) => string = (location) => location,
): Forged {
  if (from.length !== to.length) throw new Error('both names must have the same length')
  const folder = join(tables, to)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(join(tables, from), folder, { recursive: true })
  const own = (text: string) => text.replaceAll(`/${from}/`, `/${to}/`)
  // A list names manifests, a manifest names files.
  if (stolen === 'files')
    for (const file of readdirSync(join(folder, 'metadata')).filter((name) => name.startsWith('snap-'))) {
      const path = join(folder, 'metadata', file)
      writeFileSync(path, replacedInAvro(readFileSync(path), own))
    }
  const snapshots = victim.metadata().snapshots as readonly { 'manifest-list': string }[]
  const list = snapshots.at(-1)?.['manifest-list'] ?? ''
  const manifestList = spell(stolen === 'manifest-list' ? list : own(list))
  const metadataLocation = own(victim.metadataLocation ?? '')
  const path = fileURLToPath(metadataLocation)
  const text = readFileSync(path, 'utf8')
    // With the other's UUID it would be a second name of that table, which is refused before any file is looked at.
    .replace(/"table-uuid":\s*"[^"]+"/, `"table-uuid":"${crypto.randomUUID()}"`)
    .replaceAll(JSON.stringify(list), JSON.stringify(manifestList))
    .replace(
      JSON.stringify(victim.options.location),
      JSON.stringify(victim.options.location.replace(from, to)),
    )
  writeFileSync(path, text)
  return { folder, metadataLocation, manifestList }
}

/** Replaces text in the records of a file that demo/lake/avro-file.ts wrote: one compressed block. */
function replacedInAvro(file: Buffer, replace: (text: string) => string): Buffer {
  const sync = Buffer.alloc(16, 7)
  const from = file.indexOf(sync) + sync.length
  let at = from
  const long = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = file[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value / 2
    }
  }
  long()
  const sizeAt = at
  const size = long()
  const records = inflateRawSync(file.subarray(at, at + size)).toString('latin1')
  const block = deflateRawSync(Buffer.from(replace(records), 'latin1'))
  return Buffer.concat([file.subarray(0, sizeAt), zigzag(block.length), block, sync])
}

function zigzag(value: number): Buffer {
  const bytes: number[] = []
  for (let left = value * 2; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...bytes, left])
    bytes.push((left % 128) + 128)
  }
}
