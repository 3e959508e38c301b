/**
 * Tags the columns of a document by the classifications of its properties, and takes such a tag away where the document
 * in force no longer gives it. A tag that anybody else set too stays; what detection found has an edge of its own.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { ContractModel, ModelProperty } from '../../wire/odcs/model.ts'
import { nodeId } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { readGovernance } from '../governance/governance.ts'
import { classificationKey, readClassificationTags } from './classification-tags.ts'
import { columnOf, governing } from './put-in-force.ts'
import { removeTag, saveTag } from './rows.ts'
import { recordTagChange } from './tag-changes.ts'
import { tableId } from './targets.ts'
import type { RunQuery } from './versions.ts'

/** A tag of a column, and the classification that gives it, or gave it. */
export interface DocumentTag {
  readonly table: TableRef
  /** Object and property, as `orders.email`. */
  readonly at: string
  readonly column: string
  readonly tag: string
  readonly classification: string
}

interface DocumentTagChanges {
  /** Tags that the document gives and the record of tags does not show yet. */
  readonly coming: readonly (DocumentTag & { readonly isThere: boolean; readonly protects: boolean })[]
  /** Tags that stand by an earlier version of the document alone. */
  readonly going: readonly DocumentTag[]
  /** Classifications that give a tag to a column which the table does not have. */
  readonly missing: readonly DocumentTag[]
}

/** What the tags of columns would be changed by, were the model in force. It changes nothing. */
export async function documentTagChanges(
  run: RunQuery,
  tenant: TenantId,
  model: ContractModel,
): Promise<DocumentTagChanges> {
  const entries = await readClassificationTags(run, tenant)
  const map = new Map(entries.map(({ classification, tag }) => [classificationKey(classification), tag]))
  const [coming, going, missing]: [DocumentTagChanges['coming'][number][], DocumentTag[], DocumentTag[]] = [
    [],
    [],
    [],
  ]
  for (const { name, table, properties } of governing(model)) {
    const standing = await standingTags(run, tenant, table, model.id)
    const given = properties.flatMap((property) => givenBy(property, map, table, name))
    if (given.length === 0 && standing.length === 0) continue
    const columns = (await readGovernance(run, table))?.columns ?? []
    for (const one of given) {
      const column = columns.find((found) => found.current && found.name === one.column)
      const isThere = column?.tags.includes(one.tag) === true
      const stands = standing.some(({ column, tag }) => column === one.column && tag === one.tag)
      if (column === undefined) missing.push(one)
      else if (!isThere || !stands)
        coming.push({ ...one, isThere, protects: await protectsByTag(run, one.tag) })
    }
    for (const { column, tag, classification, others } of standing) {
      const property = properties.find((one) => taggedColumn(one) === column)
      const isGiven = given.some((one) => one.column === column && one.tag === tag)
      const isThere = columns.some((found) => found.name === column && found.tags.includes(tag))
      // As with a mask: a version that has lost the property leaves its column alone.
      if (property === undefined || isGiven || others || !isThere) continue
      going.push({ table, at: `${name}.${property.name}`, column, tag, classification })
    }
  }
  return { coming, going, missing }
}

/**
 * Changes the tags of columns to those that a version gives which comes in force, as one part of the caller's
 * transaction under the lock of contracts.
 * @param mayGo whether a tag may be taken away; else it stays, and a later version is asked again
 * @throws Fault `unprocessable` where a classification gives a tag to a column that the table does not have
 */
export async function putDocumentTags(
  tx: Tx,
  tenant: TenantId,
  by: Actor,
  version: { readonly contract: string; readonly number: number; readonly model: ContractModel },
  mayGo: (tag: DocumentTag) => boolean,
): Promise<void> {
  const { contract, number: contractVersion, model } = version
  const run: RunQuery = (text, params) => tx.query(text, params)
  const { coming, going, missing } = await documentTagChanges(run, tenant, model)
  const [lost] = missing
  if (lost !== undefined)
    throw new Fault(
      'unprocessable',
      `The classification ${lost.classification} of ${lost.at} gives the tag ${lost.tag}, and ${tableName(lost.table)} has no column ${lost.column}. Add the column first, or take the classification out of the document or of the settings.`,
    )
  const evidence = { contract, contractVersion }
  for (const { table, column, tag, classification } of coming) {
    await saveTag(tx, tenant, { table, column }, tag)
    const change = { action: 'set', table, column, tag, source: 'document' } as const
    await recordTagChange(tx, by, { ...change, evidence: { ...evidence, classification } })
  }
  for (const one of going) {
    const { table, column, tag, classification } = one
    if (!mayGo(one) || !(await removeTag(tx, { table, column }, tag))) continue
    const change = { action: 'removed', table, column, tag, source: 'document' } as const
    await recordTagChange(tx, by, { ...change, evidence: { ...evidence, classification } })
  }
}

/** The column of a property, from the top-level column down. */
function taggedColumn(property: ModelProperty): string {
  const column = columnOf(property)
  const parent = property.name.slice(0, property.name.lastIndexOf('.') + 1)
  return property.physicalName === undefined || column.includes('.') ? column : `${parent}${column}`
}

function givenBy(
  property: ModelProperty,
  map: ReadonlyMap<string, string>,
  table: TableRef,
  object: string,
): readonly DocumentTag[] {
  const found = new Map<string, DocumentTag>()
  const at = `${object}.${property.name}`
  for (const classification of property.classifications ?? []) {
    const tag = map.get(classificationKey(classification))
    const column = taggedColumn(property)
    if (tag !== undefined && !found.has(tag)) found.set(tag, { table, at, column, tag, classification })
  }
  return [...found.values()]
}

interface StandingTag {
  readonly column: string
  readonly tag: string
  readonly classification: string
  /** Whether somebody else set it too. */
  readonly others: boolean
}

/** The tags of a table's columns that stand by the documents of a contract, by the record of tags. */
async function standingTags(
  run: RunQuery,
  tenant: TenantId,
  table: TableRef,
  contract: string,
): Promise<readonly StandingTag[]> {
  // A decision on a finding takes away detection's own edge, and no other.
  return await run<StandingTag>(
    `with c as (
       select x.*, x.source = 'document' and x.evidence ? 'classification' and x.evidence ->> 'contract' = $3 as ours,
         max(x.tag_seq) filter (where x.action = 'removed' and not x.evidence ? 'finding')
           over (partition by x.column_name, x.tag_id) as removed
       from svc.tag_change x
       where x.tenant_id = $1 and x.table_id = $2 and x.column_name is not null)
     select column_name as column, tag,
       (array_agg(evidence ->> 'classification' order by tag_seq desc) filter (where ours))[1] as classification,
       bool_or(not ours and source <> 'classifier') as others
     from c where action <> 'removed' and tag_seq > coalesce(removed, 0)
     group by column_name, tag having bool_or(ours) order by column_name, tag`,
    [tenant, tableId(table), contract],
  )
}

/** Whether a mask or row filter hangs on a tag. */
async function protectsByTag(run: RunQuery, tag: string): Promise<boolean> {
  const [row] = await run<{ found: boolean }>(
    `select exists (select from "Tag" g join "APPLIES_TO" a on a.end_id = g.id
       where agtype_access_operator(variadic array[g.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype) as found`,
    [nodeId(tag)],
  )
  return row?.found === true
}
