/** Sends a token to every surface that takes those of identity providers, and says who the sender is there. */

import pg from 'pg'
import { call, type IdentityService } from './identity.ts'
import { prefix } from './service.ts'
import { discoverBody, envelope, postText, XmlaConnection } from './xmla.ts'

/** Over HTTP, beside a session: the subject and its roles; the status of a refusal. */
export async function overHttp(service: IdentityService, token: string, secret: string) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await call(service, 'GET', '/api/v1/session', { secret, headers })
  if (response.status !== 200) return response.status
  const { principal } = (await response.json()) as { principal: { sub: string; roles: string[] } }
  return [principal.sub, ...principal.roles]
}

/** As the password of a user on the PostgreSQL wire: the user; code and text of a refusal. */
export async function overWire({ app }: IdentityService, password: string, user = 'ada') {
  const { pgwirePort: port } = app
  const client = new pg.Client({ host: '127.0.0.1', port, user, password, database: prefix })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('select current_user')
    return String(rows[0].current_user)
  } catch (thrown) {
    const { code, message } = thrown as { readonly code?: string; readonly message: string }
    return `${code} ${message}`
  } finally {
    await client.end()
  }
}

/** As the password of a user of XMLA, or by other headers: the status. */
export async function overXmla(
  { app }: IdentityService,
  secret: string,
  { user = 'ada', headers = {} }: { user?: string; headers?: Readonly<Record<string, string>> } = {},
) {
  using connection = await XmlaConnection.open(app.xmlaPort ?? 0)
  const body = envelope(discoverBody('DISCOVER_DATASOURCES'))
  connection.write(postText({ catalog: prefix, user, secret, headers }, body))
  return (await connection.answer()).status
}

/** On each of them. */
export async function everywhere(service: IdentityService, token: string, secret: string, user = 'ada') {
  return [
    await overHttp(service, token, secret),
    await overWire(service, token, user),
    await overXmla(service, token, { user }),
  ]
}
