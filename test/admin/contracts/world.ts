/** A service with tables, a folder of contracts, and the contract verbs run in this process. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ContractVerb } from '../../../src/admin/contracts/contract-arguments.ts'
import { runContractVerb } from '../../../src/admin/contracts/contract-verbs.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'

export interface Outcome {
  readonly status: number
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly as?: string
  readonly env?: Readonly<Record<string, string>>
  readonly interrupted?: () => AbortSignal
  /** Called with each text as it is printed on either stream. */
  readonly onText?: (text: string) => void
}

export interface ContractWorld extends AsyncDisposable {
  readonly service: TestService
  readonly tenant: TenantId
  readonly foreign: TenantId
  readonly root: string
  /** Secrets: of the folder's own session, of a steward who did not write, of another tenant's steward. */
  readonly ci: string
  readonly stella: string
  readonly mallory: string
  folder(name: string, files?: Readonly<Record<string, string>>): string
  run(verb: ContractVerb, words: readonly string[], options?: RunOptions): Promise<Outcome>
  ask(
    method: string,
    path: string,
    secret: string,
    body?: unknown,
  ): Promise<[number, Record<string, unknown>]>
  /** Has another steward sign what waits, and deploys everything that is approved. */
  bringInForce(): Promise<void>
}

export const contractsPath = '/api/v1/contracts'
const columns = { id: 'long', email: 'string', region: 'string', amount: 'double' }

/** Starts it, with tables sales.NAME of both tenants. */
export async function startContractWorld(tables: readonly string[]): Promise<ContractWorld> {
  const service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const { tenant: foreign } = await addTenant(service.store, 'foreign', service.catalog.url)
  for (const owner of [tenant, foreign])
    for (const name of tables)
      await commitColumns(service.store, owner, { namespace: ['sales'], name }, columns)
  const root = mkdtempSync(join(tmpdir(), 'covenant-contracts-'))
  const [ci, stella, mallory] = [
    await session(service, tenant, ['read', 'admin'], ['steward'], 'ci'),
    await session(service, tenant, sessionScopes, ['steward'], 'stella'),
    await session(service, foreign, sessionScopes, ['steward'], 'mallory'),
  ]

  async function ask(method: string, path: string, secret: string, body?: unknown) {
    const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
    const response = await call(service, method, `${contractsPath}${path}`, { secret, headers, body })
    const text = await response.text()
    return [response.status, text === '' ? {} : JSON.parse(text)] as [number, Record<string, unknown>]
  }
  for (const secret of [stella, mallory])
    await ask('PUT', '/life-cycle-settings', secret, { deploy_unverified: true })

  return {
    ...{ service, tenant, foreign, root, ci, stella, mallory, ask },
    folder(name, files = {}) {
      const at = join(root, name)
      mkdirSync(at, { recursive: true })
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(at, file)), { recursive: true })
        writeFileSync(join(at, file), text)
      }
      return at
    },
    async run(verb, words, { as = ci, env = {}, interrupted, onText = () => {} } = {}) {
      const [out, err]: [string[], string[]] = [[], []]
      const keep = (to: string[]) => (text: string) => {
        to.push(`${text}\n`)
        onText(text)
      }
      const terminal = {
        env: { COVENANT_URL: service.app.url.origin, COVENANT_SESSION: as, ...env },
        stdin: async () => '',
        print: keep(out),
        complain: keep(err),
        ...(interrupted && { interrupted }),
      }
      const status = await runContractVerb(verb, words, terminal, { pollMs: 5 })
      return { status, out: out.join(''), err: err.join('') }
    },
    ask,
    async bringInForce() {
      const [, { items }] = await ask('GET', '/documents?limit=1000', stella)
      for (const { id, versions } of items as {
        id: string
        versions: { number: number; sha256: string; state: string }[]
      }[])
        for (const { number, sha256, state } of versions) {
          const at = `/documents/${encodeURIComponent(id)}/versions/${number}`
          if (state === 'proposed') await ask('POST', `${at}/sign-offs`, stella, { sha256 })
          if (state === 'proposed' || state === 'approved')
            await ask('POST', `${at}/moves`, stella, { move: 'deploy' })
        }
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** A document of a contract on sales.NAME. */
export function contractText(
  id: string,
  version = '1.0.0',
  {
    email = 'mask',
    more = '',
    table = id,
    consumers = true,
    mode = '',
  }: {
    readonly email?: 'mask' | 'clear' | 'none'
    readonly more?: string
    readonly table?: string
    readonly consumers?: boolean
    readonly mode?: string
  } = {},
): string {
  const said = mode === '' ? '' : `, mode: ${mode}`
  const named = `{consumers: [{name: Sales reports, contact: reports@acme.example}]${said}}`
  const ours = `
    customProperties:
    - {property: covenant, vendor: covenant, value: {masks: [{id: m, action: replace-with-null}]}}`
  return `# The contract ${id}.
apiVersion: v3.2.0
kind: DataContract
id: ${id}
version: ${version}
${consumers ? `customProperties:\n- {property: covenant, vendor: covenant, value: ${named}}\n` : ''}schema:
- name: ${table}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: ${table}}}}
  properties:
  - {name: id, logicalType: integer}
${email === 'none' ? '' : `  - name: email${email === 'mask' ? ours : ''}\n`}${more}`
}
