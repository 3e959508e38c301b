/** The parent's side of the gateway's process. */

import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { GatewayAnswers, GatewayOrder } from './gateway-process.ts'

export type GatewayChild = Child<GatewayOrder, GatewayAnswers>

/** Starts the process; `open` is the first thing to ask of it. */
export function startGatewayChild(): GatewayChild {
  return startChild(join(import.meta.dir, 'gateway-process.ts'), "the gateway's process")
}
