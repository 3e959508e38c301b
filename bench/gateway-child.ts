/** Starts the gateway's process and sends it orders. */

import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { GatewayOrder, GatewayResults } from './gateway-process.ts'

export type GatewayChild = Child<GatewayOrder, GatewayResults>

/** Starts the process. The first order must be `open`. */
export function startGatewayChild(): GatewayChild {
  return startChild(join(import.meta.dir, 'gateway-process.ts'), "the gateway's process")
}
