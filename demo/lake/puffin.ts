/** Writes Puffin files with one deletion vector (Puffin and Roaring specifications), container by container. */

import { crc32 } from 'node:zlib'

/** The kind of container of a bitmap. `best` chooses as other writers do. */
export type ContainerKind = 'array' | 'bitmap' | 'run' | 'best'

/** A Puffin file, and the place of the blob in it. */
export function puffinBytes(
  dataFile: string,
  positions: readonly number[],
  kind: ContainerKind = 'best',
): { readonly bytes: Uint8Array; readonly offset: number; readonly size: number } {
  const magic = Buffer.from('PFA1', 'latin1')
  const blob = deletionVectorBytes(positions, kind)
  const footer = Buffer.from(
    JSON.stringify({
      blobs: [
        {
          type: 'deletion-vector-v1',
          fields: [2_147_483_645],
          'snapshot-id': -1,
          'sequence-number': -1,
          offset: magic.length,
          length: blob.length,
          properties: { 'referenced-data-file': dataFile, cardinality: String(positions.length) },
        },
      ],
    }),
  )
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(footer.length)
  return {
    bytes: Buffer.concat([magic, blob, magic, footer, tail, magic]),
    offset: magic.length,
    size: blob.length,
  }
}

/** A blob of type `deletion-vector-v1`. */
export function deletionVectorBytes(positions: readonly number[], kind: ContainerKind = 'best'): Buffer {
  const body = Buffer.concat([Buffer.from('d1d33964', 'hex'), roaring64Bytes(positions, kind)])
  const frame = Buffer.alloc(body.length + 8)
  frame.writeUInt32BE(body.length)
  body.copy(frame, 4)
  frame.writeUInt32BE(crc32(body), body.length + 4)
  return frame
}

/** A 64-bit Roaring bitmap in its portable form. */
export function roaring64Bytes(positions: readonly number[], kind: ContainerKind = 'best'): Buffer {
  const sorted = [...new Set(positions)].sort((a, b) => a - b)
  const byHigh = Map.groupBy(sorted, (position) => Math.floor(position / 2 ** 32))
  const parts: Buffer[] = [uint(8, byHigh.size)]
  for (const [high, group] of byHigh)
    parts.push(
      uint(4, high),
      roaring32(
        group.map((position) => position % 2 ** 32),
        kind,
      ),
    )
  return Buffer.concat(parts)
}

function roaring32(values: readonly number[], kind: ContainerKind): Buffer {
  const containers = [...Map.groupBy(values, (value) => Math.floor(value / 65_536))].map(([key, group]) =>
    container(
      key,
      group.map((value) => value % 65_536),
      kind,
    ),
  )
  const hasRuns = containers.some(({ isRun }) => isRun)
  const flags = Buffer.alloc(hasRuns ? (containers.length + 7) >> 3 : 0)
  for (const [index, { isRun }] of containers.entries())
    if (isRun) flags[index >> 3] = (flags[index >> 3] ?? 0) | (1 << (index & 7))
  const head = hasRuns
    ? [uint(2, 12_347), uint(2, containers.length - 1), flags]
    : [uint(4, 12_346), uint(4, containers.length)]
  const descriptions = containers.flatMap(({ key, count }) => [uint(2, key), uint(2, count - 1)])
  const hasOffsets = !hasRuns || containers.length >= 4
  const fixed = Buffer.concat([...head, ...descriptions])
  let at = fixed.length + (hasOffsets ? containers.length * 4 : 0)
  const offsets = containers.map(({ bytes }) => {
    const offset = uint(4, at)
    at += bytes.length
    return offset
  })
  return Buffer.concat([fixed, ...(hasOffsets ? offsets : []), ...containers.map(({ bytes }) => bytes)])
}

function container(key: number, values: readonly number[], kind: ContainerKind) {
  const chosen = kind === 'best' ? (values.length > 4_096 ? 'bitmap' : 'array') : kind
  // Except for runs, the count of a container determines its kind.
  if (chosen === 'run') return { key, count: values.length, isRun: true, bytes: runs(values) }
  if (values.length <= 4_096)
    return { key, count: values.length, isRun: false, bytes: Buffer.concat(values.map((v) => uint(2, v))) }
  const bytes = Buffer.alloc(8_192)
  for (const value of values) bytes[value >> 3] = (bytes[value >> 3] ?? 0) | (1 << (value & 7))
  return { key, count: values.length, isRun: false, bytes }
}

function runs(values: readonly number[]): Buffer {
  const found: [start: number, length: number][] = []
  for (const value of values) {
    const last = found.at(-1)
    if (last !== undefined && value === last[0] + last[1] + 1) last[1]++
    else found.push([value, 0])
  }
  return Buffer.concat([uint(2, found.length), ...found.flat().map((part) => uint(2, part))])
}

function uint(bytes: 2 | 4 | 8, value: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value))
  else buffer.writeUIntLE(value, 0, bytes)
  return buffer
}
