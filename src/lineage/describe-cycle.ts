/** Describes a refused cycle in words (docs/reference/lineage.md 2.4). */

import type { LineageName } from '../core/lineage.ts'

const textMax = 200

function shown({ namespace, name }: LineageName): string {
  const text = `${name} (${namespace})`
  return text.length <= textMax ? text : `${text.slice(0, textMax)}…`
}

/** Writes a closed cycle as `a → b → a`. */
export function cycleText(cycle: readonly LineageName[]): string {
  return [...cycle, ...cycle.slice(0, 1)].map(shown).join(' → ')
}

/**
 * Writes the message of the 422 response.
 * @param cycle runs from an output of the event, along existing edges, to one of its inputs
 */
export function describeCycle(cycle: readonly LineageName[]): string {
  const [output, input] = [cycle[0], cycle.at(-1)]
  if (output === undefined || input === undefined)
    return 'A LINEAGE_OF edge of this event would close a cycle.'
  if (output.namespace === input.namespace && output.name === input.name)
    return `A dataset that is both input and output would close a cycle with itself: ${cycleText([input])}.`
  const path = cycleText([input, ...cycle.slice(0, -1)])
  return `The LINEAGE_OF edge from ${shown(input)} to ${shown(output)} would close a cycle: ${path}.`
}
