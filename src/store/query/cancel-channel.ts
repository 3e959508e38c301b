/** Sends cancel requests between replicas by NOTIFY. The embedded store needs none, because it has one process. */

import type { Store } from '../store.ts'

const channelName = 'svc_pgwire_cancel'

interface StoreChannel {
  /** @throws Fault where the store does not answer */
  publish(message: string): Promise<void>
  close(): Promise<void>
}

/**
 * Listens to what all replicas publish, this one included.
 * @param onMessage receives each message; messages sent during a reconnect are lost
 * @returns undefined on the embedded store
 * @throws Fault where the store does not answer
 */
export async function openCancelChannel(
  store: Store,
  onMessage: (message: string) => void,
): Promise<StoreChannel | undefined> {
  const listening = await store.listen(channelName, onMessage)
  if (listening === undefined) return undefined
  return {
    async publish(message) {
      await store.adminQuery('select pg_notify($1, $2)', [channelName, message])
    },
    close: () => listening.close(),
  }
}
