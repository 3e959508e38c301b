/** Gathers the operations on what governs commits: policies, decisions, intents, and the count of open intents. */

import { operationsOf } from '../../http/declare.ts'
import { object, wholeNumber } from '../../http/schemas.ts'
import { countIntents } from '../../store/commit/commit-intents.ts'
import type { Store } from '../../store/store.ts'
import { decisionOperations } from './decision-operations.ts'
import { intentOperations } from './intent-operations.ts'
import { policyOperations } from './policy-operations.ts'

const countOpen = operationsOf<{ readonly store: Store }>()({
  name: 'count_intents',
  tag: 'policies',
  summary: 'Counts the intents of all tenants: open ones, and stale ones, which await recovery',
  method: 'GET',
  path: '/admin/intents',
  access: { organization: 'internal admin' },
  gives: { nothing: 'administration' },
  output: object({ open: wholeNumber, stale: wholeNumber }),
  run: async ({ parts }) => await countIntents(parts.store),
})

export const writeOversightOperations = [
  ...policyOperations,
  ...decisionOperations,
  ...intentOperations,
  countOpen,
]
