/** A writer that cannot have a plan writes nothing, and says why without its credential. */

import { describe, expect, test } from 'bun:test'
import { deriveScopeKey, wrapKeys } from '../../src/transform/derive-keys.ts'
import { fetchPlan, type PlanRequest } from '../../src/transform/fetch-plan.ts'
import type { ColumnRule } from '../../src/transform/plan.ts'
import { protectColumns } from '../../src/transform/protect-values.ts'
import { TransformRefused } from '../../src/transform/refusal.ts'
import { issuer, jwks, makePlan, now, signPlan, table, tenant, tenantKey } from './make-vectors.ts'

const name = { tenant, scope: 'sensitive.email', method: 'hmac', kid: 'k1' } as const
const columns = [
  { field_id: 1, name: 'c', type: 'string', required: false, action: 'tokenize', ...name },
] as unknown as ColumnRule[]
const credential = 'svc_CANARYCREDENTIAL'

type Answer = (url: URL) => Response | Promise<Response>
const asking = (answer: Answer, more: Partial<PlanRequest> = {}) =>
  fetchPlan({
    url: `${issuer}/`,
    table,
    headers: { 'X-Svc-Session': credential },
    fetch: async (url) => await answer(new URL(url)),
    nowSeconds: () => now,
    ...more,
  })

/** The answers of a service: its keys are wrapped to the public key that was sent. */
const serving: Answer = (url) => {
  if (url.pathname === '/.well-known/jwks.json') return Response.json(jwks)
  const recipient = url.searchParams.get('public_key') ?? ''
  const plan = makePlan(columns)
  const keys = wrapKeys(recipient, String(plan.nonce), [{ ...name, key: deriveScopeKey(tenantKey, name) }])
  return Response.json({ plan: signPlan({ ...plan, keys }) })
}

async function refusalOf(asked: Promise<unknown>): Promise<TransformRefused> {
  try {
    await asked
  } catch (error) {
    if (error instanceof TransformRefused) return error
    throw error
  }
  throw new Error('it was not refused')
}

describe('a writer', () => {
  test('asks for the plan of its table and gets keys that only it can open', async () => {
    const asked: string[] = []
    const open = await asking(
      (url) => {
        asked.push(`${url.pathname}${url.search.replace(/public_key=[\w-]{43}/, 'public_key=KEY')}`)
        return serving(url)
      },
      { catalog: 'lake', schemaId: 4 },
    )
    expect(asked).toEqual([
      '/api/v1/tables/sales/orders/transform-plan?catalog=lake&schema_id=4&public_key=KEY',
      '/.well-known/jwks.json',
    ])
    expect(protectColumns(open, { c: ['a'] }, now).c).toEqual(['tok_q3zpshdzbnxtbnt4svgdejvu2e'])
  })

  const cases: readonly (readonly [string, string, Answer, Partial<PlanRequest>?])[] = [
    ['no address', 'no_plan', serving, { url: undefined }],
    ['an empty address', 'no_plan', serving, { url: '' }],
    ['no answer', 'no_plan', () => Promise.reject(new Error(`connect failed with ${credential}`))],
    [
      'no answer in time',
      'no_plan',
      () => new Promise(() => {}),
      {
        timeoutMs: 1,
        fetch: (_, init) =>
          new Promise((_, reject) =>
            init.signal?.addEventListener('abort', () => reject(new Error(credential))),
          ),
      },
    ],
    ['401', 'no_plan', () => new Response('', { status: 401 })],
    ['403', 'no_plan', () => new Response('', { status: 403 })],
    ['404', 'no_plan', () => new Response('', { status: 404 })],
    ['500', 'no_plan', () => new Response('', { status: 500 })],
    ['503', 'no_plan', () => new Response('', { status: 503 })],
    ['no JSON', 'no_plan', () => new Response('<html>')],
    ['JSON without a plan', 'no_plan', () => Response.json({})],
    [
      'no key set',
      'no_plan',
      (url) => (url.pathname.endsWith('jwks.json') ? new Response('', { status: 500 }) : serving(url)),
    ],
    [
      'a key set of another service',
      'bad_signature',
      (url) => (url.pathname.endsWith('jwks.json') ? Response.json({ keys: [] }) : serving(url)),
    ],
    ['a plan of another table, replayed', 'wrong_table', serving, { table: ['sales', 'other'] }],
    [
      'keys for another writer',
      'no_key',
      (url) => {
        url.searchParams.set('public_key', 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo')
        return serving(url)
      },
    ],
    ['another issuer', 'wrong_issuer', serving, { issuer: 'https://other.example' }],
    ['a plan that expired meanwhile', 'expired', serving, { nowSeconds: () => now + 600 }],
  ]
  test.each(cases)('that meets %s is refused: %s', async (_, code, answer, more) => {
    const refused = await refusalOf(asking(answer, more))
    expect(refused.code as string).toBe(code)
    expect(`${refused.message} ${refused.stack} ${Bun.inspect(refused.cause)}`).not.toContain(credential)
  })
})
