/** Commands for policies: put, check, list, show, history, unbind, delete. */

import { policyKinds, policyModes } from '../core/policy.ts'
import type { Input } from './client.ts'
import { type Command, onTenant } from './command.ts'
import { UsageError } from './exit-status.ts'
import type { Flags } from './flags.ts'

export const policyCommands: readonly Command[] = [
  {
    words: 'policy put',
    usage: `--tenant ID (--table ns.table | --namespace ns | --tag TAG) --id ID --kind ${policyKinds.join('|')} --file FILE [--name N] [--message M] [--mode ${policyModes.join('|')}]`,
    summary:
      'Binds a CEL policy to a table, a namespace or a tag, or replaces it. FILE is its text; - is standard input.',
    details: 'A namespace holds the tables below it too; --namespace "*" is every table of the tenant.',
    fields: ['id', 'kind', 'mode', 'name', 'message', 'definition_cel', 'pinnable', 'unpinnable'],
    async prepare(flags) {
      const input = {
        id: flags.required('id'),
        ...scopeOf(flags),
        kind: flags.requiredChoice('kind', policyKinds),
        mode: flags.choice('mode', policyModes),
        name: flags.optional('name'),
        message: flags.optional('message'),
        definition_cel: await flags.file('file'),
      }
      return onTenant(flags, { own: 'put_policy', admin: 'put_tenant_policy' }, input)
    },
  },
  {
    words: 'policy check',
    usage: '--tenant ID --file FILE',
    summary: 'Checks the text of a policy as `policy put` does, and saves nothing.',
    fields: ['saveable', 'problems', 'pinnable', 'unpinnable'],
    async prepare(flags) {
      const input = { definition_cel: await flags.file('file') }
      return onTenant(flags, { own: 'check_policy', admin: 'check_tenant_policy' }, input)
    },
  },
  {
    words: 'policy list',
    usage: '--tenant ID [--table ns.table]',
    summary: 'Lists a tenant’s policies, or those that govern one table, however they are bound.',
    prepare(flags) {
      const table = flags.table()
      const input = { namespace: table?.namespace, table: table?.name, limit: 1000 }
      return {
        ...onTenant(flags, { own: 'list_policies', admin: 'list_tenant_policies' }, input),
        everyItem: true,
      }
    },
  },
  {
    words: 'policy show',
    usage: '--tenant ID --id ID',
    summary: 'Shows a policy with the tables, namespaces and tags that it is bound to.',
    fields: ['id', 'kind', 'mode', 'name', 'message', 'definition_cel', 'scopes'],
    prepare: (flags) =>
      onTenant(flags, { own: 'get_policy', admin: 'get_tenant_policy' }, { id: flags.required('id') }),
  },
  {
    words: 'policy history',
    usage: '--tenant ID --id ID',
    summary: 'Shows who changed a policy and when, newest first, with its text before and after.',
    prepare(flags) {
      const input = { id: flags.required('id'), limit: 1000 }
      return {
        ...onTenant(flags, { own: 'list_policy_history', admin: 'list_tenant_policy_history' }, input),
        everyItem: true,
      }
    },
  },
  {
    words: 'policy unbind',
    usage: '--tenant ID (--table ns.table | --namespace ns | --tag TAG) --id ID',
    summary: 'Ends what binds a policy to one table, namespace or tag; it governs the rest as before.',
    details: 'A policy that is bound to nothing else is removed by `policy delete`.',
    prepare(flags) {
      const input = { id: flags.required('id'), ...scopeOf(flags) }
      return onTenant(flags, { own: 'unbind_policy', admin: 'unbind_tenant_policy' }, input)
    },
  },
  {
    words: 'policy delete',
    usage: '--tenant ID --id ID',
    summary: 'Removes a policy from everything that it governs.',
    prepare: (flags) =>
      onTenant(flags, { own: 'delete_policy', admin: 'delete_tenant_policy' }, { id: flags.required('id') }),
  },
]

/** The one of --table, --namespace and --tag that is given. Throws UsageError where none is, or more than one. */
export function scopeOf(flags: Flags): Input {
  const table = flags.table()
  const namespace = flags.optional('namespace')
  const tag = flags.optional('tag')
  if ([table, namespace, tag].filter((one) => one !== undefined).length !== 1)
    throw new UsageError('exactly one of --table, --namespace and --tag is required')
  if (namespace === undefined) return table === undefined ? { tag } : { table }
  return { namespace: namespace === '*' ? [] : namespace.split('.') }
}
