/** KPIs and named sets of tables, as the cubes of the caller have them. They are not computed here. */

import { modelOperations } from '../../../semantics/model-operations.ts'
import { accessOf, requireAccess } from '../access.ts'
import type { Builder } from '../builder.ts'
import type { Refs } from './refs.ts'

const access = accessOf(modelOperations, 'show_table_model')

/** Adds the types, with their fields of Table. */
export function addCalculations(builder: Builder, refs: Refs): void {
  refs.kpi.implement({
    description: 'A measure of how a table does. Each part is the name of a metric, or MDX over metrics.',
    fields: (t) => ({
      name: t.exposeString('name'),
      label: t.exposeString('label', { nullable: true }),
      description: t.exposeString('description', { nullable: true }),
      folder: t.exposeString('folder', { nullable: true }),
      value: t.exposeString('value', { description: 'What is measured.' }),
      goal: t.exposeString('goal', { nullable: true, description: 'What the value should be.' }),
      status: t.exposeString('status', { nullable: true, description: 'From -1, bad, to 1, good.' }),
      trend: t.exposeString('trend', { nullable: true, description: 'From -1, falling, to 1, rising.' }),
      weight: t.exposeString('weight', { nullable: true, description: 'How much it counts.' }),
      statusGraphic: t.exposeString('statusGraphic', {
        nullable: true,
        description: 'How clients draw the status.',
      }),
      trendGraphic: t.exposeString('trendGraphic', {
        nullable: true,
        description: 'How clients draw the trend.',
      }),
      parent: t.exposeString('parent', {
        nullable: true,
        description: 'The KPI below which clients list it.',
      }),
    }),
  })
  refs.namedSet.implement({
    description: 'Members of the cube of a table, under one name.',
    fields: (t) => ({
      name: t.exposeString('name'),
      label: t.exposeString('label', { nullable: true }),
      description: t.exposeString('description', { nullable: true }),
      folder: t.exposeString('folder', { nullable: true }),
      expression: t.exposeString('expression', { description: 'MDX.' }),
      dynamic: t.exposeBoolean('dynamic', {
        description: 'Whether each statement makes it within its slicer and subselects.',
      }),
    }),
  })
  builder.objectFields(refs.table.ref, (t) => ({
    kpis: t.field({
      type: [refs.kpi],
      description: 'KPIs of the table of which you may see every part.',
      resolve: async ({ ref }, _, { parts, caller, loaders }) => {
        requireAccess(parts, caller, access)
        return [...(await loaders.calculations(ref)).kpis]
      },
    }),
    namedSets: t.field({
      type: [refs.namedSet],
      description: 'Named sets of the table of which you may see every name.',
      resolve: async ({ ref }, _, { parts, caller, loaders }) => {
        requireAccess(parts, caller, access)
        return [...(await loaders.calculations(ref)).sets]
      },
    }),
  }))
}
