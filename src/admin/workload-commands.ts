/** Commands for trusts of workloads, whose tokens are exchanged for sessions. */

import { sessionScopes } from '../core/session.ts'
import { type Command, onTenant } from './command.ts'
import { UsageError } from './exit-status.ts'

export const workloadCommands: readonly Command[] = [
  {
    words: 'workload put',
    usage: `--tenant ID --name NAME --issuer URL --audience TEXT --subject PATTERN [--sub SUBJECT] [--roles a,b] [--scopes ${sessionScopes.join(',')}] [--jwks-url URL | --jwks FILE]`,
    summary:
      'Trusts tokens of a workload, or changes a trust, which ends its sessions. The subject of the sessions is `service:` and SUBJECT, else NAME. In PATTERN, * is any text.',
    details:
      'The keys are found by discovery from the issuer, else at --jwks-url, else in FILE, a JSON Web Key Set; - is standard input. Without --scopes, sessions may commit.',
    fields: ['id', 'sub'],
    async prepare(flags) {
      const file = flags.optional('jwks')
      return onTenant(
        flags,
        { own: 'put_workload_trust', admin: 'put_tenant_workload_trust' },
        {
          name: flags.required('name'),
          issuer: flags.required('issuer'),
          audience: flags.required('audience'),
          subject: flags.required('subject'),
          sub: flags.optional('sub'),
          roles: flags.list('roles'),
          scopes: flags.choices('scopes', sessionScopes) ?? ['commit'],
          jwks_url: flags.optional('jwks-url'),
          jwks: file === undefined ? undefined : keysOf(await flags.file('jwks')),
        },
      )
    },
  },
  {
    words: 'workload list',
    usage: '--tenant ID',
    summary: 'Lists the trusts of workloads.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_workload_trusts', admin: 'list_tenant_workload_trusts' },
        { limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'workload delete',
    usage: '--tenant ID --name NAME',
    summary: 'Removes a trust, and ends the sessions that were exchanged by it.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'delete_workload_trust', admin: 'delete_tenant_workload_trust' },
        { name: flags.required('name') },
      ),
  },
]

/** The keys of a JSON Web Key Set. @throws UsageError where the text is none */
function keysOf(text: string): readonly object[] {
  try {
    const { keys } = JSON.parse(text) as { readonly keys?: unknown }
    if (Array.isArray(keys)) return keys as readonly object[]
  } catch {
    // Said below.
  }
  throw new UsageError('--jwks takes a file with a JSON Web Key Set: {"keys": […]}')
}
