/** Describes a refused cycle in words (docs/reference/lineage.md 2.5). */

import type { LineageName } from '../core/lineage.ts'
import type { RefusedEdge } from '../store/lineage/events.ts'

const textMax = 200

function shown({ namespace, name }: LineageName): string {
  const text = `${name} (${namespace})`
  return text.length <= textMax ? text : `${text.slice(0, textMax)}…`
}

function isSame(one: LineageName, other: LineageName): boolean {
  return one.namespace === other.namespace && one.name === other.name
}

/** Writes a closed cycle as `a → b → a`, with `…` for what is not seen. */
export function cycleText(
  cycle: readonly LineageName[],
  isSeen: (name: LineageName) => boolean = () => true,
): string {
  return [...cycle, ...cycle.slice(0, 1)].map((one) => (isSeen(one) ? shown(one) : '…')).join(' → ')
}

/**
 * Writes the message of the 422 response.
 * @param isSeen whether its receiver sees a dataset; the edge itself is the receiver's own
 */
export function describeRefusal(
  count: number,
  { from, to, cycle }: RefusedEdge,
  isSeen: (name: LineageName) => boolean,
): string {
  const path = cycleText(
    [from, ...cycle.slice(0, -1)],
    (one) => isSeen(one) || isSame(one, from) || isSame(one, to),
  )
  const rest = count === 1 ? '' : ` ${count - 1} more edges were refused.`
  return `The LINEAGE_OF edge from ${shown(from)} to ${shown(to)} would close a cycle: ${path}. It was not drawn; the event's other edges were.${rest} If an edge of the path is wrong, a steward takes it back by POST /api/v1/lineage/retirements.`
}
