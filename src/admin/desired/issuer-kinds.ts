/** Issuers of tokens and trusts of workloads, as settings that are kept in files. */

import { organizationClaimDefault } from '../../auth/claims.ts'
import { serviceSubject } from '../../core/principal.ts'
import { sessionScopes } from '../../core/session.ts'
import { describedBody } from './described-body.ts'
import type { Kind, Plain } from './kind.ts'

/** The keys of a set, or its list of them. */
function keysIn(jwks: unknown): unknown {
  return Array.isArray(jwks) ? jwks : (jwks as { readonly keys?: unknown }).keys
}

const withKeys = ({ jwks, ...rest }: Plain): Plain => ({
  ...rest,
  ...(jwks !== undefined && { jwks: keysIn(jwks) }),
})

export const issuerKind: Kind = {
  ...{ at: ['token_issuers'], sides: ['own'] },
  entry: describedBody('put_token_issuer', ['name']),
  find: async (ask) => {
    const { items } = (await ask.run('list_token_issuers')) as { readonly items: readonly Plain[] }
    return items.map(({ name, changed_at: _at, changed_by: _by, ...value }) => ({
      name: String(name),
      value,
    }))
  },
  wanted: (_, said) => ({
    organization_claim: organizationClaimDefault,
    subject_prefix: '',
    ...withKeys(said),
  }),
  put: (name, said) => [{ operation: 'put_token_issuer', input: { name, ...said } }],
  remove: ({ name }) => [{ operation: 'delete_token_issuer', input: { name } }],
}

export const trustKind: Kind = {
  ...{ at: ['workload_trusts'], sides: ['own', 'tenant'] },
  entry: describedBody('put_workload_trust', ['name']),
  find: async (ask) =>
    (await ask.every<Plain>('list_workload_trusts')).map(
      ({ id: _id, name, changed_at: _at, changed_by: _by, ...value }) => ({ name: String(name), value }),
    ),
  wanted: (name, { sub = name, roles = [], scopes, ...said }) => ({
    ...withKeys(said),
    ...{ sub: serviceSubject(String(sub)), roles },
    scopes: sessionScopes.filter((scope) => (scopes as readonly string[]).includes(scope)),
  }),
  put: (name, said) => [{ operation: 'put_workload_trust', input: { name, ...said } }],
  remove: ({ name }) => [{ operation: 'delete_workload_trust', input: { name } }],
}
