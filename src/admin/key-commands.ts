/** Commands for keys: what there is, how old it is, and the turn of those that sign access tokens and plans. */

import type { Command } from './command.ts'

export const keyCommands: readonly Command[] = [
  {
    words: 'key list',
    usage: '--tenant ID',
    summary: 'Lists the keys of a tenant: webhooks, transform, sessions.',
    prepare: (flags) => {
      const tenant = flags.optionalTenant()
      const input = { limit: 1000 }
      return tenant === undefined
        ? { operation: 'list_keys', input, everyItem: true }
        : { operation: 'list_tenant_keys', input: { tenant, ...input }, everyItem: true }
    },
  },
  {
    words: 'key service',
    usage: '',
    summary: 'Lists the keys that no tenant owns, with their ages, and what became of them.',
    prepare: () => ({ operation: 'list_service_keys', input: {} }),
  },
  {
    words: 'key turn-token-signing',
    usage: '',
    summary: 'Makes another key that signs access tokens; the one before verifies until its tokens end.',
    fields: ['id'],
    prepare: () => ({ operation: 'turn_token_signing_key', input: {} }),
  },
  {
    words: 'key turn-plan-signing',
    usage: '',
    summary:
      'Makes another key that signs plans of the transform, three minutes later; what the one before signed counts until it ends.',
    fields: ['signs_at'],
    prepare: () => ({ operation: 'turn_plan_signing_key', input: {} }),
  },
]
