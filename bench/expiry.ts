/** Finds out whether a catalog allows the expiry of snapshots. Without it, tables grow while they are measured. */

import { Appends, createTableBody } from './sample-table.ts'
import type { DirectUpstream } from './upstream.ts'

/**
 * Tries an expiry on a table of its own, which is dropped afterwards.
 * @throws Error for any reply except success, 4xx, or one that says that expiry is not supported
 */
export async function expiresSnapshots(upstream: DirectUpstream): Promise<boolean> {
  const namespace = `bench_${crypto.randomUUID().slice(0, 8)}`
  const tables = `/namespaces/${namespace}/tables`
  const size = { columns: 2, snapshots: 1 }
  const appends = new Appends(size)
  await upstream.create('/namespaces', JSON.stringify({ namespace: [namespace] }))
  await upstream.create(tables, createTableBody('expiry', size))
  try {
    const path = `${tables}/expiry`
    await upstream.create(path, appends.first(Date.now()))
    let expiry: string | undefined
    while (expiry === undefined) {
      await upstream.create(path, appends.next(Date.now()))
      expiry = appends.trim()
    }
    const response = await fetch(upstream.tableUrl(namespace, 'expiry'), {
      method: 'POST',
      headers: upstream.headers,
      body: expiry,
    })
    const answer = await response.text()
    if (response.ok) return true
    // Nessie reports it with a 500.
    if (response.status < 500 || response.status === 501 || answer.includes('UnsupportedOperationException'))
      return false
    throw new Error(`the catalog answered ${response.status} to an expiry: ${answer}`)
  } finally {
    await upstream.drop(`${tables}/expiry`)
    await upstream.drop(`/namespaces/${namespace}`)
  }
}
