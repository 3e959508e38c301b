/** Commands for service sessions: create, list, revoke. */

import { sessionScopes } from '../core/session.ts'
import { createServiceSession, listServiceSessions, revokeServiceSession } from '../store/session/sessions.ts'
import { assertFound, type Command, everyPage, onTenant } from './command.ts'

const dayMs = 86_400_000
const daysDefault = 90
const daysMax = 3650

export const sessionCommands: readonly Command[] = [
  {
    words: 'session create',
    usage: `--tenant ID --name NAME [--sub SUBJECT] [--roles a,b] [--scopes ${sessionScopes.join(',')}] [--days ${daysDefault}]`,
    summary:
      'Makes a service session, for commits unless --scopes says otherwise. Its secret is shown only once.',
    fields: ['id', 'secret'],
    prepare(flags) {
      const name = flags.required('name')
      const principal = { sub: flags.optional('sub') ?? name, roles: flags.list('roles') ?? [] }
      const scopes = flags.choices('scopes', sessionScopes) ?? ['commit']
      const days = flags.integer('days', 1, daysMax) ?? daysDefault
      return onTenant(flags, (store, tenant) =>
        createServiceSession(store, tenant, {
          name,
          principal,
          scopes,
          expiresAt: new Date(Date.now() + days * dayMs),
        }),
      )
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
