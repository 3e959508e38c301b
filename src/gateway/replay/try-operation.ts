/** Declares the operation that tries a policy on one commit. */

import { Fault } from '../../base/fault.ts'
import { policyErrorCodes } from '../../core/decision.ts'
import { operationsOf } from '../../http/declare.ts'
import {
  anyObject,
  described,
  exactObject,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { type TryParts, tryOnDecision, tryOnGiven } from './try-policy.ts'

const operation = operationsOf<TryParts>()
const fact = (about: string) => maybe(described(wholeNumber, about))

export const tryOperations = [
  operation({
    name: 'try_policy',
    tag: 'policies',
    summary: 'Judges one commit by the text of a policy, and explains every part of the text; saves nothing',
    description:
      'Give the commit by hand with `table`, `commit` and `principal`, or name a stored one with `commit_id`. A stored one is not shown to a caller whom a filter or mask of its table restricts.',
    method: 'POST',
    path: '/api/v1/policies/try',
    access: { scope: 'read', roles: ['steward', 'administrator', 'owner'] },
    gives: { visible: ['existence', 'columns', 'counts'] },
    status: 200,
    input: object({
      definition_cel: nonEmpty,
      commit_id: maybe(described(uuid, 'of a decision')),
      table: maybe(tableIdentifier),
      metadata: maybe(described(exactObject, 'Iceberg table metadata before the commit')),
      columns: maybe(
        described(
          anyObject,
          'in the place of `metadata`: a table of these columns, each with its Iceberg type',
        ),
      ),
      properties: maybe(described(exactObject, 'of that table')),
      commit: maybe(described(exactObject, 'the CommitTableRequest: `requirements` and `updates`')),
      principal: maybe(object({ sub: nonEmpty, email: maybe(text), roles: maybe(list(text)) })),
      received_at: maybe(described(time, 'default: now')),
      manifest: maybe(
        described(
          object({
            added_files: fact('0 where absent, as all others'),
            added_rows: fact(''),
            added_bytes: fact(''),
            added_delete_files: fact(''),
            deleted_files: fact(''),
            outside_files: fact(''),
            touched_partitions: fact(''),
            is_rollback: maybe(flag),
            transform_current: maybe(flag),
          }),
          'what `manifest.…(commit)` is to say of a commit given by hand',
        ),
      ),
    }),
    output: object({
      outcome: oneOf(['allow', 'deny', 'no_verdict']),
      error: maybe(oneOf(policyErrorCodes)),
      message: maybe(text),
      parts: described(
        list(
          object({
            text: described(text, 'as written, shortened'),
            offset: described(wholeNumber, 'in UTF-16 code units, from 0'),
            depth: wholeNumber,
            value: maybe(described(text, 'JSON-like, shortened')),
            error: maybe(text),
            where: maybe(described(text, 'the element for which the body of a loop is shown')),
          }),
        ),
        'the whole, then its parts',
      ),
      truncated: described(flag, 'whether there are more parts than are shown'),
    }),
    faults: {
      not_found: 'The tenant has no such decision.',
      forbidden: 'The caller lacks scope or role, or may not read all values of the table.',
      conflict: 'The stored commit cannot be judged again; the message says why.',
    },
    examples: [
      {
        input: {
          definition_cel: 'principal.role(principal, "writer") && manifest.has_column(commit.result, "id")',
          table: { namespace: ['sales'], name: 'orders' },
          columns: { id: 'long' },
          commit: { updates: [{ action: 'set-properties', updates: { tier: 'gold' } }] },
          principal: { sub: 'spark', roles: ['writer'] },
        },
      },
    ],
    run: async ({ parts, caller }, { definition_cel: definitionCel, commit_id: commitId, ...given }) => {
      const { table, metadata, columns, properties, commit, principal, received_at, manifest = {} } = given
      if (commitId !== undefined) {
        if (Object.values(given).some((one) => one !== undefined))
          throw new Fault('bad_request', '`commit_id` names the whole commit: give nothing else of one.')
        return await tryOnDecision(parts, caller.tenant, definitionCel, commitId, caller.principal)
      }
      if (table === undefined || commit === undefined || principal === undefined)
        throw new Fault('bad_request', 'Give `table`, `commit` and `principal`, or `commit_id`.')
      if (metadata !== undefined && (columns !== undefined || properties !== undefined))
        throw new Fault('bad_request', '`metadata` has columns and properties: do not give them as well.')
      const { sub, email, roles = [] } = principal
      const counted = Object.entries(manifest).map(
        ([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value] as const,
      )
      return await tryOnGiven(parts, caller.tenant, definitionCel, {
        ...{ table, metadata, columns, properties, commit, receivedAt: received_at },
        principal: { sub, roles, ...(email !== undefined && { email }) },
        manifest: Object.fromEntries(counted.filter(([, value]) => value !== undefined)),
      })
    },
  }),
]
