/** Measures the service times of a catalog for a single client: load, conditional load and commit of one table. */

import type { OpenCatalog } from './catalogs.ts'
import { Appends, createTableBody, type TableSize } from './sample-table.ts'
import { type Random, shuffled } from './statistics.ts'

/** Milliseconds until the last byte of each reply arrived. */
export interface CatalogTimes {
  readonly load: readonly number[]
  /** Of the 304 replies to the ETag of the last commit; empty if the catalog supports no conditional load. */
  readonly conditionalLoad: readonly number[]
  readonly commit: readonly number[]
  /** Snapshots that the catalog shows for the table at the end. */
  readonly snapshotsEnd: number
}

/**
 * Commits an append, then loads in full and by the commit's ETag, in random order; repeatedly, one request at a time.
 * @param seconds of the measurement; the warm-up before it takes half as long
 * @throws Error when a reply is neither 200 nor 304
 */
export async function measureCatalog(
  { upstream, expires }: Pick<OpenCatalog, 'upstream' | 'expires'>,
  size: TableSize,
  seconds: number,
  random: Random,
): Promise<CatalogTimes> {
  const namespace = `bench_${crypto.randomUUID().slice(0, 8)}`
  const tables = `/namespaces/${namespace}/tables`
  await upstream.create('/namespaces', JSON.stringify({ namespace: [namespace] }))
  await upstream.create(tables, createTableBody('times', size))
  const url = upstream.tableUrl(namespace, 'times')
  const appends = new Appends(size)
  const load: number[] = []
  const conditionalLoad: number[] = []
  const commit: number[] = []

  const ask = async (init: RequestInit & { readonly headers?: Record<string, string> }) => {
    const startMs = performance.now()
    const loads = init.body === undefined ? '?snapshots=all' : ''
    const response = await fetch(url + loads, { ...init, headers: { ...upstream.headers, ...init.headers } })
    const body = await response.bytes()
    const ms = performance.now() - startMs
    if (response.status !== 200 && response.status !== 304)
      throw new Error(`the catalog answered ${response.status}: ${Buffer.from(body)}`)
    return { ms, body, status: response.status, etag: response.headers.get('etag') }
  }
  const change = (body: string) => ask({ method: 'POST', body })
  const round = async (counts: boolean) => {
    const committed = await change(appends.next(Date.now()))
    if (counts) commit.push(committed.ms)
    const { etag } = committed
    for (const conditional of shuffled(etag === null ? [false] : [false, true], random)) {
      const { ms, status } = await ask(conditional ? { headers: { 'if-none-match': etag as string } } : {})
      if (!counts) continue
      if (!conditional) load.push(ms)
      else if (status === 304) conditionalLoad.push(ms)
    }
    const trim = expires ? appends.trim() : undefined
    if (trim !== undefined) await change(trim)
  }

  await change(appends.first(Date.now()))
  const countsFrom = performance.now() + (seconds / 2) * 1_000
  while (performance.now() < countsFrom) await round(false)
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end || commit.length === 0) await round(true)
  const { body } = await ask({})
  await upstream.drop(`${tables}/times`)
  await upstream.drop(`/namespaces/${namespace}`)
  return { load, conditionalLoad, commit, snapshotsEnd: countSnapshots(body) }
}

/** @param body a LoadTableResult */
export function countSnapshots(body: Uint8Array): number {
  const { metadata } = JSON.parse(Buffer.from(body).toString()) as {
    metadata: { snapshots?: readonly unknown[] }
  }
  return metadata.snapshots?.length ?? 0
}
