/** The schema, put together from its types. Its printed form is committed as schema.graphql, which a test compares. */

import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql'
import { newBuilder } from './builder.ts'
import { describeFields } from './describe-fields.ts'
import { fieldGives } from './gives.ts'
import { addMutations } from './mutations.ts'
import { addQueries } from './queries.ts'
import { addSubscriptions } from './subscriptions.ts'
import { addAccess } from './types/access.ts'
import { addCalculations } from './types/calculations.ts'
import { addChecks } from './types/checks.ts'
import { addContracts } from './types/contracts.ts'
import { addCoverage } from './types/coverage.ts'
import { addMetricValues } from './types/metric-values.ts'
import { addOversight } from './types/oversight.ts'
import { addReaders } from './types/readers.ts'
import { makeRefs } from './types/refs.ts'
import { addSemantics } from './types/semantics.ts'
import { addTables } from './types/tables.ts'

/** Makes the schema. @throws Error where a field does not declare what it gives */
export function makeSchema(): GraphQLSchema {
  const builder = newBuilder()
  const refs = makeRefs(builder)
  addTables(builder, refs)
  addContracts(builder, refs)
  addCoverage(builder, refs)
  addReaders(builder, refs)
  addAccess(builder, refs)
  addOversight(builder, refs)
  addSemantics(builder, refs)
  addCalculations(builder, refs)
  addMetricValues(builder)
  addChecks(builder, refs)
  addQueries(builder, refs)
  addMutations(builder, refs)
  addSubscriptions(builder, refs)
  const schema = builder.toSchema()
  fieldGives(schema)
  describeFields(schema)
  return schema
}

/** The schema as text, in one order. */
export function schemaText(schema: GraphQLSchema): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}
