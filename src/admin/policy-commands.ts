/** Commands for policies: put, list, delete. */

import { policyKinds, policyModes } from '../core/policy.ts'
import { type Command, onTenant } from './command.ts'

export const policyCommands: readonly Command[] = [
  {
    words: 'policy put',
    usage: `--tenant ID --table ns.table --id ID --kind ${policyKinds.join('|')} --file FILE [--name N] [--message M] [--mode ${policyModes.join('|')}]`,
    summary: 'Attaches a CEL policy to a table, or replaces it. FILE is its text; - is standard input.',
    fields: ['id', 'kind', 'mode', 'name', 'message', 'definition_cel'],
    async prepare(flags) {
      const input = {
        id: flags.required('id'),
        table: flags.requiredTable(),
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
    words: 'policy list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s policies.',
    prepare: (flags) => ({
      ...onTenant(flags, { own: 'list_policies', admin: 'list_tenant_policies' }, { limit: 1000 }),
      everyItem: true,
    }),
  },
  {
    words: 'policy delete',
    usage: '--tenant ID --id ID',
    summary: 'Removes a policy from every table that it governs.',
    prepare: (flags) =>
      onTenant(flags, { own: 'delete_policy', admin: 'delete_tenant_policy' }, { id: flags.required('id') }),
  },
]
