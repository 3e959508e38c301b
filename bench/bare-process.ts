/** Runs a listener that echoes bytes, to show what the runtime itself needs for a connection. */

import { obeyParent } from './child.ts'
import { type Memory, type MemoryOrder, settledMemory } from './settled-memory.ts'

export type BareOrder = { readonly kind: 'open' } | MemoryOrder

export interface BareResults {
  readonly open: { readonly port: number }
  readonly memory: Memory
}

if (import.meta.main)
  obeyParent<BareOrder>(async () => {
    const listener = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: (socket, chunk) => void socket.write(chunk) },
    })
    return {
      result: { port: listener.port },
      serve: (order) => settledMemory(order.kind === 'memory' && order.settle),
      close: async () => listener.stop(true),
    }
  })
