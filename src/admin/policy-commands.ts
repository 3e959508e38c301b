/** Commands for policies: put, list, delete. */

import { type Policy, policyKinds, policyModes } from '../core/policy.ts'
import { checkPolicyToSave } from '../policy/check.ts'
import { deletePolicy, listPolicies, putPolicy } from '../store/policy/policies.ts'
import { assertFound, type Command, everyPage, onTenant } from './command.ts'
import { UsageError } from './exit-status.ts'
import { policyView } from './views.ts'

export const policyCommands: readonly Command[] = [
  {
    words: 'policy put',
    usage: `--tenant ID --table ns.table --id ID --kind ${policyKinds.join('|')} --file FILE [--name N] [--message M] [--mode ${policyModes.join('|')}]`,
    summary: 'Attaches a CEL policy to a table, or replaces it. FILE is its text; - is standard input.',
    fields: ['id', 'kind', 'mode', 'name', 'message', 'definition_cel'] satisfies (keyof ReturnType<
      typeof policyView<Policy>
    >)[],
    async prepare(flags) {
      const table = flags.requiredTable()
      const id = flags.required('id')
      const policy: Policy = {
        id,
        kind: flags.requiredChoice('kind', policyKinds),
        mode: flags.choice('mode', policyModes) ?? 'enforce',
        name: flags.optional('name') ?? id,
        message: flags.optional('message') ?? '',
        definitionCel: await flags.file('file'),
      }
      const problems = checkPolicyToSave(policy.definitionCel)
      if (problems.length > 0)
        throw new UsageError(
          problems.map(({ offset, message }) => `--file, at ${offset}: ${message}`).join('\n'),
        )
      return onTenant(flags, async (store, tenant) => {
        await putPolicy(store, tenant, table, policy)
        return policyView(policy)
      })
    },
  },
  {
    words: 'policy list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s policies.',
    prepare: (flags) =>
      onTenant(flags, async (store, tenant) =>
        (await everyPage((page) => listPolicies(store, tenant, page))).map(policyView),
      ),
  },
  {
    words: 'policy delete',
    usage: '--tenant ID --id ID',
    summary: 'Removes a policy from every table that it governs.',
    prepare(flags) {
      const id = flags.required('id')
      return onTenant(flags, async (store, tenant) =>
        assertFound(await deletePolicy(store, tenant, id), 'The tenant has no such policy.'),
      )
    },
  },
]
