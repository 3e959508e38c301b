/**
 * Random policies, and other writers between a client's load and the forward of its commit: an accepted commit
 * satisfies its policies on the state to which the catalog applied it, if it was pinned.
 */

import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createTable, orderFields, schemaOf } from '../../../demo/commits.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { bindingsOf } from '../../../src/gateway/stages/bindings.ts'
import { compilePolicy } from '../../../src/policy/compile.ts'
import { evaluatePolicy } from '../../../src/policy/evaluate.ts'
import { parseCommitRequest } from '../../../src/wire/iceberg/commit-request.ts'
import { tableView } from '../../../src/wire/iceberg/policy-view.ts'
import { parseLoadTableResult } from '../../../src/wire/iceberg/table-metadata.ts'
import { interruptedStore } from '../../support/interrupted-store.ts'
import { roundsOf } from '../../support/long-form.ts'
import { audit, startTestService, upstreamHeaders } from '../../support/service.ts'
import { govern, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

const seed = 20_261_124
const budget = { timeoutMs: 5_000, ticksMax: 200_000 }

const atom = fc.constantFrom(
  'manifest.has_column(commit.result, "amount")',
  'manifest.has_column(table, "amount")',
  '!manifest.has_partition(table, "customer")',
  'commit.result.sort_order["order-id"] == 0',
  'table.current_snapshot == null',
  'commit.result.current_snapshot.summary.operation == "append"',
  'has(table.refs.other)',
  '"other" in commit.result.refs',
  '!has(table.refs.main) || table.refs.main.snapshot_id > 0',
  'commit.updates.size() > 1',
  'has(commit.result.properties.owner)',
  'table.snapshots.size() < 3',
)
const policy = fc
  .tuple(atom, atom, fc.constantFrom('&&', '||'), fc.boolean())
  .map(([left, right, operator, negated]) => `(${left}) ${operator} ${negated ? '!' : ''}(${right})`)
const other = fc.constantFrom('drop-column', 'spec', 'order', 'main', 'other', 'remove-other', 'properties')
const round = fc.record({
  policies: fc.array(policy, { minLength: 1, maxLength: 2 }),
  branch: fc.constantFrom('main', 'other'),
  asserts: fc.boolean(),
  before: fc.array(other, { maxLength: 2 }),
  /** Between the load of the client and its commit, before the intent, and before the second intent. */
  meanwhile: fc.tuple(...Array.from({ length: 3 }, () => fc.array(other, { maxLength: 2 }))),
})
type Other = typeof other extends fc.Arbitrary<infer T> ? T : never

test(`an accepted commit that was pinned satisfies its policies on the state that it was applied to (seed ${seed})`, async () => {
  const acts: (() => Promise<void>)[] = []
  const act = async () => await acts.shift()?.()
  await using service = await startTestService({ wrapStore: (store) => interruptedStore(store, act) })
  const headers = await upstreamHeaders(service.catalog)
  let count = 0
  let snapshotId = 1_000n
  const outcomes = { pinned: 0, loaded: 0, denied: 0, conflict: 0 }

  async function upstream(method: string, path: string, body?: string): Promise<Uint8Array> {
    const url = `${service.catalog.url}/v1/dev/namespaces/sales/tables${path}`
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
    if (!response.ok) throw new Error(`the catalog answered ${response.status}: ${await response.text()}`)
    return await response.bytes()
  }
  const state = async (name: string): Promise<JsonObject> =>
    parseLoadTableResult(await upstream('GET', `/${name}`)).metadata

  function appendBody(metadata: JsonObject, branch: string, operation: string, asserts: boolean): string {
    const id = snapshotId++
    const refs = metadata.get('refs') as ReadonlyMap<string, ReadonlyMap<string, bigint>> | undefined
    const requirement = `{"type":"assert-ref-snapshot-id","ref":"${branch}","snapshot-id":${refs?.get(branch)?.get('snapshot-id') ?? null}}`
    const sequence = Number(metadata.get('last-sequence-number') ?? 0n) + 1
    return `{"requirements":[${asserts ? requirement : ''}],"updates":[{"action":"add-snapshot","snapshot":{"snapshot-id":${id},
      "sequence-number":${sequence},"timestamp-ms":${Date.now()},"manifest-list":"${metadata.get('location')}/metadata/${id}.avro",
      "summary":{"operation":"${operation}"}}},{"action":"set-snapshot-ref","ref-name":"${branch}","type":"branch","snapshot-id":${id}}]}`
  }

  async function write(name: string, what: Other): Promise<void> {
    const metadata = await state(name)
    // What the table has already is refused, and changes nothing.
    const put = (...updates: readonly unknown[]) =>
      upstream('POST', `/${name}`, JSON.stringify({ requirements: [], updates })).catch(() => {})
    if (what === 'drop-column')
      await put(
        { action: 'add-schema', schema: schemaOf(orderFields.filter((field) => field.name !== 'amount')) },
        { action: 'set-current-schema', 'schema-id': -1 },
      )
    else if (what === 'spec') {
      const fields = [{ 'source-id': 2, 'field-id': 1000, name: 'customer', transform: 'identity' }]
      await put({ action: 'add-spec', spec: { fields } }, { action: 'set-default-spec', 'spec-id': -1 })
    } else if (what === 'order') {
      const field = { 'source-id': 1, transform: 'identity', direction: 'asc', 'null-order': 'nulls-first' }
      await put(
        { action: 'add-sort-order', 'sort-order': { fields: [field] } },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
      )
    } else if (what === 'remove-other') await put({ action: 'remove-snapshot-ref', 'ref-name': 'other' })
    else if (what === 'properties') await put({ action: 'set-properties', updates: { owner: 'ops' } })
    else await upstream('POST', `/${name}`, appendBody(metadata, what, 'delete', false))
  }

  await fc.assert(
    fc.asyncProperty(round, async ({ policies, branch, asserts, before, meanwhile }) => {
      const name = `t${++count}`
      await upstream('POST', '', createTable(name))
      for (const [index, text] of policies.entries())
        await govern(service, { namespace: ['sales'], name }, `p${count}-${index}`, 'schema', text)
      for (const what of before) await write(name, what)
      const path = `/namespaces/sales/tables/${name}`
      const seen = parseLoadTableResult(await (await send(service, 'GET', path)).bytes()).metadata
      acts.length = 0
      const [first, ...later] = meanwhile.map((list) => async () => {
        for (const what of list) await write(name, what)
      })
      await first?.()
      for (const one of later) acts.push(one)
      const body = appendBody(seen, branch, 'append', asserts)
      const response = await send(service, 'POST', path, body)
      acts.length = 0
      if (response.status !== 200) {
        outcomes[response.status === 409 ? 'conflict' : 'denied']++
        expect([403, 409, 503]).toContain(response.status)
        return
      }
      const [row] = await audit(service)
      expect(row?.table.name).toBe(name)
      outcomes[row?.baseHeld ?? 'loaded']++
      if (row?.baseHeld !== 'pinned') return
      const result = parseLoadTableResult(await response.bytes()).metadata
      const log = result.get('metadata-log') as readonly ReadonlyMap<string, string>[]
      const replaced = parseLoadTableResult(await metadataAt(log.at(-1)?.get('metadata-file') ?? '')).metadata
      const table = { namespace: ['sales'], name }
      const request = parseCommitRequest(new TextEncoder().encode(body))
      const identified = { principal: { sub: 'spark', roles: [] } }
      const change = { table, request, identified, receivedAtMs: Date.now() }
      const bindings = bindingsOf(change, { metadata: replaced, view: tableView(table, replaced) })
      for (const text of policies)
        expect([text, evaluatePolicy(compilePolicy(text), bindings, budget)]).toEqual([text, true])
      expect(row.outcomes.every(({ value }) => value === true)).toBe(true)
    }),
    { seed, numRuns: roundsOf(200) },
  )
  // Each way was walked, so that none of them is vacuous.
  expect(Object.entries(outcomes).filter(([, times]) => times === 0)).toEqual([])
})

/** A metadata file of the development catalog, as a load would show it. */
async function metadataAt(location: string): Promise<Uint8Array> {
  const text = await Bun.file(new URL(location)).text()
  return new TextEncoder().encode(`{"metadata-location":${JSON.stringify(location)},"metadata":${text}}`)
}
