/** What an operator does on a new installation: tenants, sessions, catalogs, policies, the audit log. */

import { type CatalogKind, catalogKinds } from '../core/catalog.ts'
import { type Policy, policyKinds, policyModes } from '../core/policy.ts'
import { type SessionScope, sessionScopes } from '../core/session.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import { checkPolicy } from '../policy/check.ts'
import { listAudit } from '../store/audit.ts'
import {
  listCatalogCredentials,
  putCatalogCredential,
  removeCatalogCredential,
} from '../store/catalog-credentials.ts'
import type { Page, PageRequest } from '../store/page.ts'
import { deletePolicy, listPolicies, putPolicy } from '../store/policies.ts'
import { createServiceSession, listServiceSessions, revokeServiceSession } from '../store/sessions.ts'
import { createTenant, listTenants } from '../store/tenants.ts'
import { type Command, type Flags, UsageError } from './command.ts'

const text = { type: 'string' } as const

export const commands: readonly Command[] = [
  {
    words: 'tenant create',
    usage: '--name NAME [--organization org_…]',
    summary: 'Makes a tenant with its own schema and graph; prints its id.',
    options: { name: text, organization: text },
    run: (flags, store) => {
      const organizationId = flags.optional('organization')
      return createTenant(store, {
        name: flags.required('name'),
        ...(organizationId ? { organizationId } : {}),
      })
    },
  },
  {
    words: 'tenant list',
    usage: '',
    summary: 'Lists the tenants.',
    options: {},
    run: (_flags, store) => everyPage((page) => listTenants(store, page)),
  },
  {
    words: 'session create',
    usage: '--tenant ID --name NAME [--sub SUBJECT] [--roles a,b] [--scopes commit,read] [--days 90]',
    summary: 'Makes a service session. Its secret is printed once and kept only as a hash.',
    options: { tenant: text, name: text, sub: text, roles: text, scopes: text, days: text },
    run: async (flags, store) => {
      const name = flags.required('name')
      return await createServiceSession(store, flags.tenant(), {
        name,
        principal: { sub: flags.optional('sub') ?? name, roles: flags.list('roles') },
        scopes: scopesOf(flags),
        expiresAt: new Date(Date.now() + daysOf(flags) * 86_400_000),
      })
    },
  },
  {
    words: 'session list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s service sessions, without secrets.',
    options: { tenant: text },
    run: (flags, store) => everyPage((page) => listServiceSessions(store, flags.tenant(), page)),
  },
  {
    words: 'session revoke',
    usage: '--tenant ID --id SESSION',
    summary: 'Revokes a service session, with effect on the next request.',
    options: { tenant: text, id: text },
    run: (flags, store) => revokeServiceSession(store, flags.tenant(), flags.required('id')),
  },
  {
    words: 'catalog put',
    usage: `--tenant ID --nickname N --kind ${catalogKinds.join('|')} --endpoint URL --config FILE`,
    summary: 'Registers or rotates a catalog credential. FILE is config_json; `-` reads standard input.',
    options: { tenant: text, nickname: text, kind: text, endpoint: text, config: text },
    run: async (flags, store) =>
      putCatalogCredential(store, flags.tenant(), {
        nickname: flags.required('nickname'),
        kind: flags.choice<CatalogKind>('kind', catalogKinds),
        endpoint: flags.required('endpoint'),
        config: jsonObject(await flags.file('config')),
      }),
  },
  {
    words: 'catalog list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s catalog credentials, without secrets.',
    options: { tenant: text },
    run: (flags, store) => listCatalogCredentials(store, flags.tenant()),
  },
  {
    words: 'catalog remove',
    usage: '--tenant ID --nickname N',
    summary: 'Removes a catalog credential.',
    options: { tenant: text, nickname: text },
    run: (flags, store) => removeCatalogCredential(store, flags.tenant(), flags.required('nickname')),
  },
  {
    words: 'policy put',
    usage: `--tenant ID --table ns.table --id ID --kind ${policyKinds.join('|')} --file FILE [--name N] [--message M] [--mode ${policyModes.join('|')}]`,
    summary: 'Attaches a CEL policy to a table, or replaces it. It is checked before it is stored.',
    options: {
      tenant: text,
      table: text,
      id: text,
      kind: text,
      file: text,
      name: text,
      message: text,
      mode: text,
    },
    run: async (flags, store) => {
      const definitionCel = await flags.file('file')
      const problems = checkPolicy(definitionCel)
      if (problems.length > 0)
        throw new UsageError(
          problems.map(({ offset, message }) => `--file, at ${offset}: ${message}`).join('\n'),
        )
      const id = flags.required('id')
      const policy: Policy = {
        id,
        kind: flags.choice('kind', policyKinds),
        mode: flags.optional('mode') === undefined ? 'enforce' : flags.choice('mode', policyModes),
        name: flags.optional('name') ?? id,
        message: flags.optional('message') ?? '',
        definitionCel,
      }
      await putPolicy(store, flags.tenant(), tableOf(flags), policy)
      return policy
    },
  },
  {
    words: 'policy list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s policies.',
    options: { tenant: text },
    run: (flags, store) => everyPage((page) => listPolicies(store, flags.tenant(), page)),
  },
  {
    words: 'policy delete',
    usage: '--tenant ID --id ID',
    summary: 'Removes a policy.',
    options: { tenant: text, id: text },
    run: (flags, store) => deletePolicy(store, flags.tenant(), flags.required('id')),
  },
  {
    words: 'audit list',
    usage: '--tenant ID [--table ns.table] [--limit 50]',
    summary: 'Shows the newest decisions.',
    options: { tenant: text, table: text, limit: text },
    run: (flags, store) =>
      listAudit(store, flags.tenant(), {
        limit: Number(flags.optional('limit') ?? 50),
        ...(flags.optional('table') === undefined ? {} : { table: tableOf(flags) }),
      }),
  },
]

async function everyPage<T>(load: (page: PageRequest) => Promise<Page<T>>): Promise<readonly T[]> {
  const items: T[] = []
  let after: string | undefined
  do {
    const page = await load(after === undefined ? {} : { after })
    items.push(...page.items)
    after = page.next
  } while (after !== undefined)
  return items
}

function scopesOf(flags: Flags): readonly SessionScope[] {
  const names = flags.optional('scopes') === undefined ? ['commit'] : flags.list('scopes')
  return names.map((name) => {
    const scope = sessionScopes.find((one) => one === name)
    if (scope === undefined)
      throw new UsageError(`--scopes: \`${name}\` is none of ${sessionScopes.join(', ')}`)
    return scope
  })
}

function daysOf(flags: Flags): number {
  const days = Number(flags.optional('days') ?? 90)
  if (!Number.isInteger(days) || days < 1 || days > 3650)
    throw new UsageError('--days must be a whole number from 1 to 3650')
  return days
}

function tableOf(flags: Flags): TableRef {
  const levels = flags.required('table').split('.')
  const name = levels.pop() ?? ''
  if (levels.length === 0 || ![...levels, name].every(isPathIdentifier))
    throw new UsageError('--table must be `namespace.table`')
  return { namespace: levels, name }
}

function jsonObject(source: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    throw new UsageError('--config is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError('--config must be a JSON object')
  return value as Record<string, unknown>
}
