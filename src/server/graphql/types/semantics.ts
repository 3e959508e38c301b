/** Glossary terms and metrics, as the REST operations of the semantic layer show them. Their numbers are in metric-values.ts. */

import type { GlossaryTerm } from '../../../core/metric.ts'
import { listMetricViews, type MetricView } from '../../../semantics/describe-metric.ts'
import { glossaryOperations } from '../../../semantics/glossary-operations.ts'
import { metricOperations } from '../../../semantics/metric-operations.ts'
import { listTerms } from '../../../store/semantics/terms.ts'
import { accessOf, requireAccess } from '../access.ts'
import { type Builder, connectionOf, pageOf, sliceOf } from '../builder.ts'
import type { GraphContext } from '../context.ts'
import { nodeIdOf } from '../node-id.ts'
import type { Refs } from './refs.ts'

const termsAccess = accessOf(glossaryOperations, 'list_terms')
const metricsAccess = accessOf(metricOperations, 'list_metrics')

/** A term by name; undefined where there is none. @throws Fault `forbidden` */
export async function termModel(
  { parts, caller, loaders }: GraphContext,
  name: string,
): Promise<GlossaryTerm | undefined> {
  requireAccess(parts, caller, termsAccess)
  return await loaders.term(name)
}

/** A metric by name; undefined where there is none, or its tables may not be read. @throws Fault `forbidden` */
export async function metricModel(
  { parts, caller, loaders }: GraphContext,
  name: string,
): Promise<MetricView | undefined> {
  requireAccess(parts, caller, metricsAccess)
  return await loaders.metric(name)
}

/** Adds the types, with their fields of Query and Table. */
export function addSemantics(builder: Builder, refs: Refs): void {
  refs.term.ref.implement({
    description: 'A word of the business, in one definition.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({ type: 'ID', resolve: ({ name }) => nodeIdOf('GlossaryTerm', name) }),
      name: t.exposeString('name'),
      version: t.int({ description: 'Rises by one with each change.', resolve: ({ number }) => number }),
      definition: t.exposeString('definition'),
      synonyms: t.stringList({ resolve: ({ synonyms }) => [...synonyms] }),
      owner: t.exposeString('owner', { nullable: true }),
      links: t.stringList({ resolve: ({ links }) => [...links] }),
      broader: t.field({
        type: refs.term.ref,
        nullable: true,
        description: 'The term of the wider concept.',
        resolve: async ({ broader }, _, { loaders }) =>
          broader === undefined ? null : ((await loaders.term(broader)) ?? null),
      }),
      metrics: t.field({
        type: refs.metric.connection,
        nullable: true,
        description: 'Those in force that mean the term and that you may ask for, by name.',
        args: { first: t.arg.int({ required: true }), after: t.arg.string() },
        resolve: async ({ name }, args, { parts, caller, loaders }) => {
          requireAccess(parts, caller, metricsAccess)
          return sliceOf(await loaders.metricsOfTerm(name), args)
        },
      }),
    }),
  })
  addMetric(refs)
  builder.objectFields(refs.table.ref, (t) => ({
    metrics: t.field({
      type: refs.metric.connection,
      nullable: true,
      description: 'Metrics in force over the table that you may ask for, by name.',
      args: { first: t.arg.int({ required: true }), after: t.arg.string() },
      resolve: async ({ ref }, args, { parts, caller, loaders }) => {
        requireAccess(parts, caller, metricsAccess)
        return sliceOf(await loaders.metricsOver(ref), args)
      },
    }),
  }))
  builder.queryFields((t) => ({
    glossaryTerm: t.field({
      type: refs.term.ref,
      nullable: true,
      args: { name: t.arg.string({ required: true }) },
      resolve: async (_, { name }, context) => (await termModel(context, name)) ?? null,
    }),
    glossaryTerms: t.field({
      type: refs.term.connection,
      nullable: true,
      description: 'Every term of the glossary, by name.',
      args: { first: t.arg.int({ required: true }), after: t.arg.string() },
      resolve: async (_, args, { parts, store, caller }) => {
        requireAccess(parts, caller, termsAccess)
        return connectionOf(await listTerms(store, caller.tenant, pageOf(args)), ({ name }) => name, args)
      },
    }),
    metric: t.field({
      type: refs.metric.ref,
      nullable: true,
      description: 'A metric by name. Null where there is none that you may ask for.',
      args: { name: t.arg.string({ required: true }) },
      resolve: async (_, { name }, context) => (await metricModel(context, name)) ?? null,
    }),
    metrics: t.field({
      type: refs.metric.connection,
      nullable: true,
      description: 'Metrics in force that you may ask for, by name.',
      args: { first: t.arg.int({ required: true }), after: t.arg.string() },
      resolve: async (_, args, { parts, store, caller }) => {
        requireAccess(parts, caller, metricsAccess)
        const { tenant, principal } = caller
        const asking = { store, clock: parts.clock, tenant, principal }
        const found = await listMetricViews(asking, { ...pageOf(args), inForce: true })
        const next = found.next_page_token
        return connectionOf(
          { items: found.items, ...(next !== undefined && { next }) },
          ({ name }) => name,
          args,
        )
      },
    }),
  }))
}

function addMetric(refs: Refs): void {
  refs.metricDimension.implement({
    description: 'What the rows of a metric can be grouped by.',
    fields: (t) => ({
      name: t.exposeString('name'),
      kind: t.exposeString('kind', { description: '`categorical` or `time`.' }),
      label: t.exposeString('label', { nullable: true }),
      description: t.exposeString('description', { nullable: true }),
    }),
  })
  refs.metricProblem.implement({
    description: 'What has become of a column of the metric, for you.',
    fields: (t) => ({
      kind: t.exposeString('kind', { description: '`dropped`, `retyped` or `masked`.' }),
      column: t.exposeString('column'),
      detail: t.exposeString('detail'),
    }),
  })
  refs.metricCurrency.implement({
    description: 'How the amounts of a metric are converted.',
    fields: (t) => ({
      column: t.exposeString('column', { description: 'Holds the currency of each amount.' }),
      to: t.exposeString('to', { description: 'The currency of the result, as ISO 4217 has it.' }),
      rate: t.exposeString('rate', { description: 'The dimension of a joined table that holds the rates.' }),
    }),
  })
  refs.metric.ref.implement({
    description: 'A number with one definition, over tables that you may read.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({ type: 'ID', resolve: ({ name }) => nodeIdOf('Metric', name) }),
      name: t.exposeString('name'),
      version: t.exposeInt('version', { description: 'Rises by one with each definition.' }),
      state: t.exposeString('state'),
      kind: t.exposeString('kind', {
        description: '`simple`, `ratio`, `derived`, `cumulative` or `offset`.',
      }),
      sha256: t.exposeString('sha256', { description: 'Of what is computed.' }),
      label: t.exposeString('label', { nullable: true }),
      description: t.exposeString('description', { nullable: true }),
      unit: t.exposeString('unit', { nullable: true }),
      format: t.exposeString('format', { nullable: true }),
      owner: t.exposeString('owner', { nullable: true }),
      folder: t.exposeString('folder', {
        nullable: true,
        description: 'Where clients of cubes list it.',
      }),
      defaultGrain: t.string({ nullable: true, resolve: ({ default_grain: grain }) => grain ?? null }),
      expression: t.string({
        nullable: true,
        description: 'Of kinds `simple` and `derived`.',
        resolve: ({ expression }) => expression ?? null,
      }),
      filter: t.string({
        nullable: true,
        description: 'The rows that count, of kind `simple`.',
        resolve: ({ filter }) => filter ?? null,
      }),
      currency: t.field({
        type: refs.metricCurrency,
        nullable: true,
        description: 'Of kind `simple`, where its amounts are converted.',
        resolve: ({ currency }) => currency ?? null,
      }),
      madeOf: t.stringList({
        description: 'Names of the metrics of a ratio or of what accumulates.',
        resolve: ({ numerator, denominator, metric, base, conversion }) =>
          [numerator, denominator, metric, base, conversion].filter((name) => name !== undefined),
      }),
      tags: t.field({
        type: [refs.tag],
        description: 'Of its columns, without those that a steward attested away.',
        resolve: ({ tags }) => [...tags],
      }),
      masked: t.boolean({
        description: 'Whether it is computed from masked values for you.',
        resolve: ({ problems }) => problems.some(({ kind }) => kind === 'masked'),
      }),
      problems: t.field({ type: [refs.metricProblem], resolve: ({ problems }) => [...problems] }),
      dimensions: t.field({ type: [refs.metricDimension], resolve: ({ dimensions }) => [...dimensions] }),
      tables: t.field({
        type: [refs.table.ref],
        description: 'Those that it is computed over.',
        resolve: async ({ tables }, _, { loaders }) => {
          const found = await Promise.all(tables.map((ref) => loaders.table(ref)))
          return found.filter((table) => table !== undefined)
        },
      }),
      term: t.field({
        type: refs.term.ref,
        nullable: true,
        description: 'What it means.',
        resolve: async ({ term }, _, context) =>
          term === undefined ? null : ((await termModel(context, term)) ?? null),
      }),
      createdAt: t.field({ type: 'DateTime', resolve: ({ created_at: at }) => at }),
      createdBy: t.string({ description: 'Subject.', resolve: ({ created_by: by }) => by }),
    }),
  })
}
