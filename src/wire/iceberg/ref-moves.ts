/**
 * Finds which branches and tags a commit moves, from which snapshot to which. It compares metadata before and after,
 * and reads no file.
 */

import type { JsonObject } from '../../base/json.ts'
import { metadataReader, refsOf, snapshotsOf } from './table-metadata.ts'

/** Two snapshots to compare; undefined for a state without files. */
export interface SnapshotStep {
  readonly before: JsonObject | undefined
  readonly after: JsonObject | undefined
}

export interface RefMove {
  /** Each once. */
  readonly steps: readonly SnapshotStep[]
  /** Whether a ref goes to a snapshot that does not follow the one that it names, or a tag becomes a branch. */
  readonly leaves: boolean
}

/**
 * The moves of one commit. Snapshots that no ref names are compared with their parents.
 * @param base undefined where the commit creates the table
 * @param stepsMax how many snapshots are followed from one to the other before they count as unrelated
 * @throws Fault upstream_failed for malformed metadata
 */
export function refMoves(base: JsonObject | undefined, result: JsonObject, stepsMax: number): RefMove {
  const before = new Map(base ? snapshotsOf(base).map((one) => [idOf(one), one] as const) : [])
  const after = new Map(snapshotsOf(result).map((one) => [idOf(one), one] as const))
  const find = (id: bigint | undefined) => (id === undefined ? undefined : (after.get(id) ?? before.get(id)))
  const steps = new Map<string, SnapshotStep>()
  const add = (from: bigint | undefined, to: bigint | undefined) =>
    steps.set(`${from} ${to}`, { before: find(from), after: find(to) })
  let leaves = false

  /** A parent that has expired is as good as none. */
  function knownParent(snapshot: JsonObject | undefined): bigint | undefined {
    const parent = snapshot && metadataReader.optionalInteger(snapshot, 'parent-snapshot-id')
    return find(parent) && parent
  }

  /** Adds the steps from `from` to `to` along their parents. @returns whether they are related */
  function follow(from: bigint | undefined, to: bigint): boolean {
    const path: (readonly [bigint | undefined, bigint])[] = []
    let at = to
    while (path.length < stepsMax) {
      const parent = knownParent(find(at))
      path.push([parent, at])
      // A chain from nothing ends below the snapshots that this commit adds.
      if (parent === from || (from === undefined && parent !== undefined && before.has(parent))) {
        for (const [one, next] of path) add(one, next)
        return true
      }
      if (parent === undefined) return false
      at = parent
    }
    return false
  }

  const tags = base ? refIds(base, isTag) : new Map<string, bigint>()
  const tagsNow = refIds(result, isTag)
  const old = base ? refIds(base) : new Map<string, bigint>()
  const now = refIds(result)
  for (const [name, to] of now) {
    const from = old.get(name)
    // A tag keeps its snapshot for good; a branch of its name promises nothing.
    if (tags.has(name) && !tagsNow.has(name)) leaves = true
    if (from === to) continue
    // A new ref of a snapshot that exists takes nothing from anyone. A new `main` brings back what the table lost.
    if (from === undefined && before.has(to)) {
      if (name !== 'main') continue
    } else if (follow(from, to)) continue
    leaves = true
    add(from, to)
  }
  const main = old.get('main')
  if (main !== undefined && !now.has('main')) {
    leaves = true
    add(main, undefined)
  }
  for (const [id, snapshot] of after) {
    const isCompared = [...steps.values()].some((step) => step.after === snapshot)
    if (!before.has(id) && !isCompared) add(knownParent(snapshot), id)
  }
  return { steps: [...steps.values()], leaves }
}

const isTag = (ref: JsonObject) => ref.get('type') === 'tag'

function refIds(
  metadata: JsonObject,
  counts: (ref: JsonObject) => boolean = () => true,
): ReadonlyMap<string, bigint> {
  const refs = refsOf(metadata)
  return new Map(
    [...refs.keys()]
      .map((name) => [name, metadataReader.object(refs, name)] as const)
      .filter(([, ref]) => counts(ref))
      .map(([name, ref]) => [name, metadataReader.integer(ref, 'snapshot-id')]),
  )
}

const idOf = (snapshot: JsonObject) => metadataReader.integer(snapshot, 'snapshot-id')
