/**
 * Starts Ory Hydra in memory, with the pages for login and consent that it leaves to others: they let in at once whom the
 * test names, with that person's claims.
 */

import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { runClient, startServer } from './processes.ts'

export interface Hydra extends AsyncDisposable {
  /** The issuer. */
  readonly url: string
  /** Claims by the person who logs in. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>
  /** Who logs in next. */
  person: string
  /** One request of the administration API. @throws Error where it is refused */
  admin(method: string, path: string, body?: unknown): Promise<unknown>
}

/** The program, which the machine's own Go builds; its modules are pinned in go.sum. */
async function build(folder: string): Promise<string> {
  const sources = join(import.meta.dir, 'hydra')
  const digest = new Bun.CryptoHasher('sha256')
    .update(await Bun.file(join(sources, 'go.sum')).text())
    .digest('hex')
  const target = new URL(`../../.cache/clients/hydra-${digest.slice(0, 12)}/`, import.meta.url).pathname
  const program = join(target, 'hydra')
  if (existsSync(program)) return program
  mkdirSync(target, { recursive: true })
  const copy = join(folder, 'source')
  cpSync(sources, copy, { recursive: true })
  const command = ['go', 'build', '-C', copy, '-tags', 'sqlite', '-o', program, 'github.com/ory/hydra/v2']
  const { exitCode, output } = await runClient('hydra-build', command, { seconds: 1_700 })
  if (exitCode !== 0) throw new Error(`Hydra was not built:\n${output.slice(-2000)}`)
  return program
}

/** Hydra with no client yet. */
export async function startHydra(): Promise<Hydra> {
  const stack = new AsyncDisposableStack()
  try {
    const folder = await mkdtemp(join(tmpdir(), 'covenant-hydra-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const [port, adminPort] = [freePort(), freePort()]
    const url = `http://127.0.0.1:${port}`
    const admin = administration(`http://127.0.0.1:${adminPort}`)
    const hydra: Omit<Hydra, keyof AsyncDisposable> = { url, admin, people: new Map(), person: '' }
    const pages = Bun.serve({
      ...{ hostname: '127.0.0.1', port: 0 },
      fetch: async (request) => Response.redirect(await letIn(hydra, new URL(request.url))),
    })
    stack.defer(() => pages.stop(true))
    const settings = {
      dsn: 'memory',
      serve: { public: { host: '127.0.0.1', port }, admin: { host: '127.0.0.1', port: adminPort } },
      urls: { self: { issuer: url }, login: `${pages.url}login`, consent: `${pages.url}consent` },
      secrets: { system: ['a-secret-of-thirty-two-characters'] },
      strategies: { access_token: 'jwt' },
      sqa: { opt_out: true },
    }
    const file = join(folder, 'hydra.json')
    await writeFile(file, JSON.stringify(settings))
    const command = [await build(folder), 'serve', 'all', '--dev', '--config', file]
    stack.use(await startServer('hydra', command, `${url}/health/ready`, { seconds: 120 }))
    return Object.assign(hydra, { [Symbol.asyncDispose]: () => stack.disposeAsync() })
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

function administration(url: string): Hydra['admin'] {
  return async (method, path, body) => {
    const response = await fetch(`${url}/admin${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`Hydra answered ${response.status} to ${method} ${path}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
}

/** Accepts what Hydra asks. @returns where the browser goes on */
async function letIn(
  { admin, people, person }: Omit<Hydra, keyof AsyncDisposable>,
  { pathname, searchParams }: URL,
): Promise<string> {
  const kind = pathname.slice(1)
  const challenge = `${kind}_challenge=${searchParams.get(`${kind}_challenge`)}`
  const accept = `/oauth2/auth/requests/${kind}/accept?${challenge}`
  const claims = people.get(person) ?? {}
  const asked = (await admin('GET', `/oauth2/auth/requests/${kind}?${challenge}`)) as {
    readonly requested_scope: readonly string[]
    readonly requested_access_token_audience: readonly string[]
  }
  const body =
    kind === 'login'
      ? { subject: person }
      : {
          grant_scope: asked.requested_scope,
          grant_access_token_audience: asked.requested_access_token_audience,
          session: { id_token: claims, access_token: claims },
        }
  return ((await admin('PUT', accept, body)) as { readonly redirect_to: string }).redirect_to
}
