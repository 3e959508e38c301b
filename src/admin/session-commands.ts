/** Commands for service sessions: create, list, revoke. */

import { mintSession } from '../auth/administration/sessions.ts'
import { operator } from '../core/administration.ts'
import { sessionScopes } from '../core/session.ts'
import { listServiceSessions, revokeServiceSession } from '../store/session/sessions.ts'
import { assertFound, type Command, everyPage, onTenant } from './command.ts'

const dayMs = 86_400_000
const daysDefault = 90
const daysMax = 3650

export const sessionCommands: readonly Command[] = [
  {
    words: 'session create',
    usage: `--tenant ID --name NAME [--sub SUBJECT] [--roles a,b] [--scopes ${sessionScopes.join(',')}] [--days ${daysDefault}]`,
    summary:
      'Makes a service session, for commits unless --scopes says otherwise. Its secret is shown only once. Its subject is `service:` and SUBJECT, else NAME.',
    fields: ['id', 'secret'],
    prepare(flags) {
      const name = flags.required('name')
      const sub = flags.optional('sub')
      const roles = flags.list('roles')
      const scopes = flags.choices('scopes', sessionScopes) ?? ['commit']
      const days = flags.integer('days', 1, daysMax) ?? daysDefault
      return onTenant(flags, async (store, tenant) => {
        const nowMs = Date.now()
        const wanted = { name, sub, roles, scopes, expires_at: new Date(nowMs + days * dayMs) }
        const minter = { actor: operator(), isOperator: true }
        const { id, secret } = await mintSession(store, tenant, nowMs, wanted, minter)
        return { id, secret }
      })
    },
  },
  {
    words: 'session list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s service sessions, without secrets.',
    prepare: (flags) =>
      onTenant(flags, (store, tenant) => everyPage((page) => listServiceSessions(store, tenant, page))),
  },
  {
    words: 'session revoke',
    usage: '--tenant ID --id SESSION',
    summary: 'Revokes a service session, with effect on the next request.',
    prepare(flags) {
      const id = flags.required('id')
      return onTenant(flags, async (store, tenant) =>
        assertFound(
          await revokeServiceSession(store, tenant, id),
          'The tenant has no such session, or it was already revoked.',
        ),
      )
    },
  },
]
