/** Starts Keycloak in memory, with a realm of organizations, and asks its administration API. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { java, packageFolder } from './packages.ts'
import { runClient, startServer } from './processes.ts'

export interface Keycloak extends AsyncDisposable {
  readonly url: string
  /** One request of the administration API, below the realm. @throws Error where it is refused */
  admin(method: string, path: string, body?: unknown): Promise<unknown>
}

export const realm = 'covenant'
const password = 'admin'
const entry = 'io.quarkus.bootstrap.runner.QuarkusEntryPoint'

/** The server, which first writes itself for its settings, in a folder of its own. */
export async function startKeycloak(): Promise<Keycloak> {
  const stack = new AsyncDisposableStack()
  try {
    const home = await mkdtemp(join(tmpdir(), 'covenant-keycloak-'))
    stack.defer(() => rm(home, { recursive: true, force: true }))
    await cp(packageFolder('maven:keycloak'), home, { recursive: true })
    const [port, managementPort] = [freePort(), freePort()]
    const url = `http://127.0.0.1:${port}`
    const settings = [
      'start-dev',
      '--http-host=127.0.0.1',
      `--http-port=${port}`,
      `--http-management-port=${managementPort}`,
      '--db=dev-mem',
      '--cache=local',
    ]
    const command = [
      java('python:java-25'),
      ...['-Xmx512m', '-XX:TieredStopAtLevel=1', `-Dkc.home.dir=${home}`],
      `-Djboss.server.config.dir=${home}/conf`,
      `-Dkeycloak.theme.dir=${home}/themes`,
      '-Djava.util.logging.manager=org.jboss.logmanager.LogManager',
      '-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory',
      ...['-cp', `${home}/lib/quarkus-run.jar`],
    ]
    const env = { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: password }
    const written = await runClient('keycloak-build', [...command, entry, ...settings], { env, seconds: 300 })
    // So it says that it has to be started again.
    if (written.exitCode !== 10)
      throw new Error(`Keycloak did not write itself: ${written.output.slice(-2_000)}`)
    const start = [...command, '-Dkc.config.built=true', entry, ...settings]
    stack.use(await startServer('keycloak', start, `${url}/realms/master`, { env, seconds: 300 }))
    const admin = administration(url)
    await setUpRealm(admin)
    return { url, admin, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

function administration(url: string): Keycloak['admin'] {
  return async (method, path, body) => {
    const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password }
    const granted = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    const { access_token: token } = (await granted.json()) as { access_token: string }
    const response = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`Keycloak answered ${response.status} to ${method} ${path}: ${text}`)
    const made = response.headers.get('location')?.split('/').at(-1)
    return text === '' ? made : JSON.parse(text)
  }
}

/** A realm with two organizations, a person in each, and a group that is a role here. */
async function setUpRealm(admin: Keycloak['admin']): Promise<void> {
  await admin('POST', '', {
    ...{ realm, enabled: true, organizationsEnabled: true, sslRequired: 'none' },
    groups: [{ name: 'steward' }],
    users: ['ada', 'bob'].map((username) => ({
      ...{ username, enabled: true, email: `${username}@${username}.example`, emailVerified: true },
      ...{ firstName: username, lastName: 'Example', groups: username === 'ada' ? ['/steward'] : [] },
      credentials: [{ type: 'password', value: username, temporary: false }],
    })),
  })
  for (const [person, alias] of [
    ['ada', 'org_acme'],
    ['bob', 'org_other'],
  ] as const) {
    const id = await admin('POST', `/${realm}/organizations`, {
      ...{ name: alias, alias, domains: [{ name: `${person}.example` }] },
    })
    await admin('POST', `/${realm}/organizations/${id}/members`, await personId(admin, person))
  }
}

/** The id of a person. */
export async function personId(admin: Keycloak['admin'], person: string): Promise<string> {
  const [found] = (await admin('GET', `/${realm}/users?username=${person}&exact=true`)) as { id: string }[]
  return found?.id ?? ''
}

/** Registers the service: back-channel logout, groups as paths, organizations in each token. */
export async function registerService(
  admin: Keycloak['admin'],
  service: URL,
  clientId: string,
  secret: string,
): Promise<void> {
  const at = (path: string) => new URL(path, service).href
  const id = await admin('POST', `/${realm}/clients`, {
    ...{ clientId, secret, enabled: true, publicClient: false, standardFlowEnabled: true },
    redirectUris: [at('/callback')],
    attributes: {
      'post.logout.redirect.uris': at('/logged-out'),
      'backchannel.logout.url': at('/logout/back-channel'),
      'backchannel.logout.session.required': 'true',
    },
    protocolMappers: [
      {
        ...{ name: 'groups', protocol: 'openid-connect', protocolMapper: 'oidc-group-membership-mapper' },
        config: { 'claim.name': 'groups', 'full.path': 'true', 'id.token.claim': 'true' },
      },
    ],
  })
  const scopes = (await admin('GET', `/${realm}/client-scopes`)) as { id: string; name: string }[]
  const organization = scopes.find(({ name }) => name === 'organization')
  await admin('DELETE', `/${realm}/clients/${id}/optional-client-scopes/${organization?.id}`)
  await admin('PUT', `/${realm}/clients/${id}/default-client-scopes/${organization?.id}`)
}
