/** The parent's side of the gateway's process: one order at a time, each with its answer. */

import { join } from 'node:path'
import type { GatewayAnswers, GatewayOrder } from './gateway-process.ts'

export interface GatewayChild extends AsyncDisposable {
  /** @throws Error with what went wrong there */
  ask<K extends GatewayOrder['kind']>(order: GatewayOrder & { readonly kind: K }): Promise<GatewayAnswers[K]>
}

/** Starts the process; `open` is the first thing to ask of it. */
export function startGatewayChild(): GatewayChild {
  let pending: PromiseWithResolvers<unknown> | undefined
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'gateway-process.ts')], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc(message: { answer?: unknown; error?: string }) {
      if (message.error === undefined) pending?.resolve(message.answer)
      else pending?.reject(new Error(`the gateway's process: ${message.error}`))
    },
    onExit(_process, code) {
      pending?.reject(new Error(`the gateway's process ended (${code})`))
    },
  })
  const ask: GatewayChild['ask'] = async (order) => {
    pending = Promise.withResolvers()
    child.send(order)
    return (await pending.promise) as never
  }
  return {
    ask,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.disconnect()
      await child.exited
    },
  }
}
