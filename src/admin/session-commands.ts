/** Commands for service sessions: create, list, turn, revoke, trust. */

import { sessionScopes } from '../core/session.ts'
import { type Command, onTenant } from './command.ts'

const dayMs = 86_400_000
const daysDefault = 90
const daysMax = 3650

export const sessionCommands: readonly Command[] = [
  {
    words: 'session create',
    usage: `--tenant ID --name NAME [--sub SUBJECT] [--roles a,b] [--scopes ${sessionScopes.join(',')}] [--days ${daysDefault}]`,
    summary:
      'Makes a service session, for commits unless --scopes says otherwise. Its secret is shown only once. Its subject is `service:` and SUBJECT, else NAME.',
    fields: ['id', 'secret', 'sub'],
    prepare(flags) {
      const days = flags.integer('days', 1, daysMax) ?? daysDefault
      return onTenant(
        flags,
        { own: 'mint_own_session', admin: 'mint_session' },
        {
          name: flags.required('name'),
          sub: flags.optional('sub'),
          roles: flags.list('roles'),
          scopes: flags.choices('scopes', sessionScopes) ?? ['commit'],
          expires_at: new Date(Date.now() + days * dayMs),
        },
      )
    },
  },
  {
    words: 'session list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s service sessions, without secrets.',
    prepare: (flags) => ({
      ...onTenant(flags, { own: 'list_own_sessions', admin: 'list_sessions' }, { limit: 1000 }),
      everyItem: true,
    }),
  },
  {
    words: 'session turn',
    usage: '--tenant ID --id SESSION',
    summary:
      'Gives a session another secret, with effect on the next request and log-in. It is shown only once; the one before is refused.',
    fields: ['secret'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'turn_session_secret', admin: 'turn_tenant_session_secret' },
        { session: flags.required('id') },
      ),
  },
  {
    words: 'session revoke',
    usage: '--tenant ID --id SESSION',
    summary:
      'Revokes a session, with effect on the next request. Says which storage credentials it still holds, and until when.',
    fields: ['state', 'quarantined_until', 'credentials_out'],
    prepare: (flags) =>
      onTenant(flags, { own: 'end_own_session', admin: 'end_session' }, { session: flags.required('id') }),
  },
  {
    words: 'session trust',
    usage: '--tenant ID --id SESSION --engine yes|no',
    summary:
      'Says whether the engine behind a service session applies read restrictions itself. Then it is told the filters and masks of tables, and still gets no credentials for them.',
    fields: ['session', 'trusted_engine'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'put_trusted_engine', admin: 'put_tenant_trusted_engine' },
        { session: flags.required('id'), trusted: flags.choice('engine', ['yes', 'no']) === 'yes' },
      ),
  },
]
