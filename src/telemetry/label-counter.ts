/** Makes counters whose series all start at 0. */

import { Counter, type Registry } from 'prom-client'

/** Makes counters of a registry, each with one label whose values are known. */
export function labelCounter(registry: Registry) {
  return <L extends string>(name: string, help: string, label: L, values: readonly string[]): Counter<L> => {
    const counter = new Counter({ name, help, labelNames: [label], registers: [registry] })
    for (const value of values) counter.inc({ [label]: value } as Record<L, string>, 0)
    return counter
  }
}
