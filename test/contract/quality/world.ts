/** A service with governed tables and a contract whose rules are measured on them. */

import { sessionScopes } from '../../../src/core/session.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { type Lake, type LakeOptions, startLake } from '../../support/lake.ts'
import { licenseForAll } from '../../support/license.ts'

export type Json = Record<string, never>

export interface QualityWorld extends AsyncDisposable {
  readonly lake: Lake
  /** Steward, and another one. */
  readonly stella: string
  readonly sten: string
  /** No role, so that filters and masks apply; and an officer, who is exempt from them. */
  readonly bob: string
  readonly ann: string
  /** Asks over HTTP. A text is a contract document. */
  readonly ask: (method: string, path: string, secret: string, body?: unknown) => Promise<[number, Json]>
  /** Adds a version, has it approved, and deploys it. @returns its path */
  readonly deploy: (document: string) => Promise<string>
  /** Requests a run of sales.orders, performs it, and returns it as the steward sees it. */
  readonly measure: (more?: object) => Promise<Json>
}

/** The rules of an object and of its columns, as YAML flow lists by column; '' is the table. */
export function contractOf(
  version: string,
  rules: Readonly<Record<string, string>>,
  more = '',
  ours = '',
): string {
  const { '': ofTable = '[]', ...others } = rules
  const ofColumns = { id: '[]', ...others }
  const properties = Object.entries(ofColumns).map(
    ([name, quality]) => `  - {name: ${name}, quality: ${quality}}`,
  )
  return `apiVersion: v3.2.0
kind: DataContract
id: orders
version: ${version}
status: active
${more}
schema:
- name: orders
  quality: ${ofTable}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}${ours}}}
  properties:
${properties.join('\n')}
`
}

/** Starts it. */
export async function startQualityWorld(options: LakeOptions = {}): Promise<QualityWorld> {
  const lake = await startLake({ ...options, env: { SVC_LICENSE: licenseForAll(), ...options.env } })
  const { store, tenant, app } = lake
  const session = async (sub: string, roles: readonly string[]) => {
    const made = { name: sub, principal: { sub, roles }, scopes: sessionScopes }
    return (await createServiceSession(store, tenant, made)).secret
  }
  const ask: QualityWorld['ask'] = async (method, path, secret, body) => {
    const isDocument = typeof body === 'string'
    const response = await fetch(new URL(path, app.url), {
      method,
      headers: {
        'X-Svc-Session': secret,
        ...(body !== undefined && { 'content-type': isDocument ? 'application/yaml' : 'application/json' }),
      },
      ...(body !== undefined && { body: isDocument ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return [response.status, text === '' ? {} : JSON.parse(text)] as [number, Json]
  }
  const [stella, sten] = [await session('stella', ['steward']), await session('sten', ['steward'])]
  const [bob, ann] = [await session('bob', []), await session('ann', ['officer'])]
  const must = async (...asked: Parameters<typeof ask>) => {
    const [status, answer] = await ask(...asked)
    if (status >= 300) throw new Error(`${asked[0]} ${asked[1]}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }
  return {
    ...{ lake, stella, sten, bob, ann, ask },
    async deploy(document) {
      const versions = '/api/v1/contracts/documents/orders/versions'
      const added = await must('POST', versions, stella, document)
      const at = `${versions}/${added.number}`
      const proposed = await must('POST', `${at}/moves`, stella, { move: 'propose' })
      if (proposed.state === 'proposed') await must('POST', `${at}/sign-offs`, sten, { sha256: added.sha256 })
      await must('POST', `${at}/moves`, stella, { move: 'deploy' })
      return at
    },
    async measure(more = {}) {
      const asked = { contract: 'orders', namespace: ['sales'], table: 'orders', ...more }
      const { id } = await must('POST', '/api/v1/checks/runs', stella, asked)
      await app.checks.runner.runDue()
      return await must('GET', `/api/v1/checks/runs/${id}`, stella)
    },
    [Symbol.asyncDispose]: () => lake[Symbol.asyncDispose](),
  }
}

/** The results of a run by key, as `outcome value`. */
export function outcomes(run: Json): Record<string, string> {
  const results = run.results as unknown as {
    key: string
    outcome: string
    value?: string
    reason?: string
  }[]
  return Object.fromEntries(
    results.map(({ key, outcome, value, reason }) => [
      key,
      [outcome, value ?? reason].filter(Boolean).join(' '),
    ]),
  )
}
