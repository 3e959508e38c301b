/** Declares the REST operations on stored GraphQL operations, which a pipeline uploads. */

import { GraphQLError, type GraphQLSchema, parse, validate } from 'graphql'
import { Fault } from '../../base/fault.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import { described, flag, nonEmpty, object, pageInput, pageOf, text, time } from '../../http/schemas.ts'
import {
  deleteOperation,
  listOperations,
  saveStoredOnly,
  storeOperation,
  takesStoredOnly,
} from '../../store/query/graphql-operations.ts'
import type { Store } from '../../store/store.ts'

interface StoredOperationParts {
  readonly store: Store
  readonly schema: GraphQLSchema
}

const operation = operationsOf<StoredOperationParts>()
const tag = 'graphql'
const root = '/api/v1/graphql'
const capability = 'graphql'
const reading = { scope: 'read', roles: ['administrator', 'owner'], capability } as const
const writing = { scope: 'admin', roles: ['administrator', 'owner'], capability } as const
const sha256 = described(text, 'hex, of the document')
const settings = object({
  stored_operations_only: described(flag, 'service sessions may send stored operations only'),
})

export const storedOperationOperations = [
  operation({
    name: 'list_graphql_operations',
    tag,
    summary: 'The stored operations of GraphQL, by hash',
    method: 'GET',
    path: `${root}/operations`,
    access: reading,
    gives: { nothing: 'administration' },
    input: object(pageInput),
    output: pageOf(object({ sha256, document: text, stored_at: time })),
    run: async ({ parts, caller }, page) =>
      pageView(await listOperations(parts.store, caller.tenant, pageRequest(page)), (one) => ({
        ...{ sha256: one.sha256, document: one.document, stored_at: one.storedAt },
      })),
  }),
  operation({
    name: 'store_graphql_operation',
    tag,
    summary: 'Stores an operation of GraphQL, which is then called by its hash',
    method: 'POST',
    path: `${root}/operations`,
    access: writing,
    gives: { nothing: 'own input' },
    input: object({ document: nonEmpty }),
    output: object({ sha256 }),
    status: 201,
    faults: { unprocessable: 'The document is not valid by the schema.' },
    examples: [{ input: { document: '{ tables(first: 10) { edges { node { name } } } }' } }],
    run: async ({ parts, caller }, { document }) => {
      assertValid(parts.schema, document)
      return { sha256: await storeOperation(parts.store, caller.tenant, document, await caller.actor()) }
    },
  }),
  operation({
    name: 'delete_graphql_operation',
    tag,
    summary: 'Removes a stored operation of GraphQL',
    method: 'DELETE',
    path: `${root}/operations/{sha256}`,
    access: writing,
    gives: { nothing: 'own input' },
    input: object({ sha256: text }),
    faults: { not_found: 'The tenant has stored no such operation.' },
    run: async ({ parts, caller }, { sha256: hash }) => {
      if (!(await deleteOperation(parts.store, caller.tenant, hash, await caller.actor())))
        throw new Fault('not_found', 'The tenant has stored no such operation.')
    },
  }),
  operation({
    name: 'get_graphql_settings',
    tag,
    summary: 'The tenant’s settings of GraphQL',
    method: 'GET',
    path: `${root}/settings`,
    access: reading,
    gives: { nothing: 'administration' },
    output: settings,
    run: async ({ parts, caller }) => ({
      stored_operations_only: await takesStoredOnly(parts.store, caller.tenant),
    }),
  }),
  operation({
    name: 'put_graphql_settings',
    tag,
    summary: 'Saves the tenant’s settings of GraphQL',
    method: 'PUT',
    path: `${root}/settings`,
    access: writing,
    gives: { nothing: 'own input' },
    input: settings,
    run: async ({ parts, caller }, { stored_operations_only: only }) =>
      await saveStoredOnly(parts.store, caller.tenant, only, await caller.actor()),
  }),
]

/** @throws Fault `unprocessable` with the first problem */
function assertValid(schema: GraphQLSchema, document: string): void {
  const problem = problemOf(schema, document)
  if (problem !== undefined) throw new Fault('unprocessable', `The document is not valid: ${problem}`)
}

function problemOf(schema: GraphQLSchema, document: string): string | undefined {
  try {
    return validate(schema, parse(document, { maxTokens: 2_000 }))[0]?.message
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return thrown.message
    throw thrown
  }
}
