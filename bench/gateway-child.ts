/** Starts the gateway's process and sends it orders. */

import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { GatewayOrder, GatewayResults } from './gateway-process.ts'

export type GatewayChild = Child<GatewayOrder, GatewayResults>

export interface GatewayChildOptions {
  /** Beside the environment of this process; undefined takes a variable out. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Another checkout, whose gateway is started instead. */
  readonly tree?: string
}

/** Starts the process. The first order must be `open`. */
export function startGatewayChild({ env, tree }: GatewayChildOptions = {}): GatewayChild {
  const folder = tree === undefined ? import.meta.dir : join(tree, 'bench')
  return startChild(join(folder, 'gateway-process.ts'), "the gateway's process", env)
}
