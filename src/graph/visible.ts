/**
 * The conditions, in SQL, under which somebody sees a node, and which of its properties. A table is seen where it may be read, and all
 * else only by way of such a table: its columns, tags, snapshots, pins, contracts and namespaces. A dataset of lineage is
 * seen unless it is stored as a table that is not. Sentinels are never seen.
 */

import type { EdgeLabel, VertexLabel } from '../store/database/names.ts'
import { readableFrom } from '../store/graph/readable.ts'
import { type Audience, labels, type PropertyDeclaration, types, visibleProperties } from './schema.ts'

const agtype = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`

/**
 * The common table expressions that the conditions use: `readable` holds the sentinel's table where isolation works,
 * `vt` the tables that are seen, `vc` their contracts, `vn` their namespaces, `vp` the columns of pinned tables.
 */
export const visibleTables = `readable (id, key) as materialized (
    select t.id, ${agtype('t', 'id')} ${readableFrom}),
  vt (id, key) as materialized (select id, key from readable where key <> '""'::agtype),
  vc (key) as materialized (
    select ${agtype('k', 'id')} from vt join "GOVERNS" e on e.end_id = vt.id join "Contract" k on k.id = e.start_id),
  vn (id) as (
    select e.end_id from vt join "IN_NAMESPACE" e on e.start_id = vt.id
    union select e.end_id from vn join "IN_NAMESPACE" e on e.start_id = vn.id),
  vp (id, fields) as materialized (
    select vt.id, l.fields from vt cross join lateral (
      select case when ${agtype('v', 'kind')} = '"pin"'::agtype then e.properties::text::jsonb -> 'columns' end as fields
      from "PINS" e join "PinEvent" v on v.id = e.start_id
      where e.end_id = vt.id order by ${agtype('v', 'seq')} desc limit 1) l
    where l.fields is not null)`

/** Whether the sentinel's table was among those that may be read: without it, nothing is said. */
export const sentinelSeen = `exists (select 1 from readable where key = '""'::agtype)`

const isTable = (id: string) => `${id} in (select id from vt)`
const isNamespace = (id: string) => `${id} in (select id from vn)`
/** A column of a pinned table is seen where the pinned schema has it. */
const isColumn = (id: string, properties: string) => `exists (
  select 1 from "HAS_COLUMN" h join vt on vt.id = h.start_id left join vp on vp.id = vt.id
  where h.end_id = ${id} and (vp.id is null or exists (select 1 from jsonb_array_elements(vp.fields) f
    where f ->> 'fieldId' = ${properties}::text::jsonb ->> 'field_id')))`
const isColumnNode = (id: string) =>
  `exists (select 1 from "Column" vcol where vcol.id = ${id} and ${isColumn('vcol.id', 'vcol.properties')})`
const isTag = (id: string) => `exists (select 1 from "TAGGED" g
  where g.end_id = ${id} and (${isTable('g.start_id')} or ${isColumnNode('g.start_id')}))`
const isDataset = (alias: string) =>
  `(${agtype(alias, 'table_id')} is null or ${agtype(alias, 'table_id')} in (select key from vt))`

const joins = (label: EdgeLabel, id: string, other: (id: string) => string) =>
  `exists (select 1 from "${label}" j where j.start_id = ${id} and ${other('j.end_id')})`
const governs = (edgeLabels: readonly EdgeLabel[], id: string) =>
  edgeLabels
    .map((label) => joins(label, id, (end) => `(${isTable(end)} or ${isNamespace(end)} or ${isTag(end)})`))
    .join(' or ')
const isClassification = (id: string) =>
  `exists (select 1 from "CLASSIFIED_AS" y where y.end_id = ${id} and ${isColumnNode('y.start_id')})`
const isContractVersion = (alias: string) => `${agtype(alias, 'contract')} in (select key from vc)`

/** Reserved: nothing writes such a node, so nobody sees one. */
const nobody = () => 'false'

const conditions: Readonly<Record<VertexLabel, (alias: string) => string>> = {
  Contract: (n) => `${agtype(n, 'id')} in (select key from vc)`,
  ContractVersion: isContractVersion,
  Catalog: nobody,
  Namespace: (n) => isNamespace(`${n}.id`),
  Table: (n) => isTable(`${n}.id`),
  Column: (n) => isColumn(`${n}.id`, `${n}.properties`),
  Snapshot: (n) => `${agtype(n, 'table_id')} in (select key from vt)`,
  Branch: nobody,
  Policy: (n) => governs(['SCHEMA_GOVERNS', 'WRITE_GOVERNS'], `${n}.id`),
  RetentionPolicy: (n) => governs(['RETAINS'], `${n}.id`),
  RowFilter: (n) =>
    `${joins('FILTERS', `${n}.id`, (end) => `(${isTable(end)} or ${isColumnNode(end)})`)} or ${joins('APPLIES_TO', `${n}.id`, isTag)}`,
  ColumnMask: (n) => `${joins('MASKS', `${n}.id`, isColumnNode)} or ${joins('APPLIES_TO', `${n}.id`, isTag)}`,
  Tag: (n) => isTag(`${n}.id`),
  Classification: (n) => isClassification(`${n}.id`),
  Attestation: (n) =>
    joins(
      'ATTESTS',
      `${n}.id`,
      (end) =>
        `(${isClassification(end)} or exists (select 1 from "ContractVersion" w where w.id = ${end} and ${isContractVersion('w')}))`,
    ),
  GlossaryTerm: nobody,
  Metric: nobody,
  Principal: (n) => joins('INTENDED_WRITE', `${n}.id`, isTable),
  Role: nobody,
  Dataset: isDataset,
  Job: (n) =>
    `exists (select 1 from "PRODUCED_BY" p join "Dataset" d on d.id = p.start_id where p.end_id = ${n}.id and ${isDataset('d')})
      or not exists (select 1 from "PRODUCED_BY" p where p.end_id = ${n}.id)
        and exists (select 1 from "CONSUMED_BY" c join "Dataset" d on d.id = c.start_id where c.end_id = ${n}.id and ${isDataset('d')})`,
  PinEvent: (n) => joins('PINS', `${n}.id`, isTable),
  QualityCheck: nobody,
}

/** Whether the node of a label, as `alias`, is seen. */
export function isVisible(label: VertexLabel, alias: string): string {
  return `(${conditions[label](alias)})`
}

/** A node as JSON, with the properties that somebody of `as` sees. `#` is its identity, which no answer shows. */
export function nodeValue(label: VertexLabel, as: Audience, alias: string): string {
  return `jsonb_build_object('#', ${alias}.id::text, 'label', '${label}', 'properties', ${shown(visibleProperties(labels[label], as), `${alias}.properties`)})`
}

/** An edge as JSON; see {@link nodeValue}. */
export function edgeValue(type: EdgeLabel, as: Audience, id: string, properties: string): string {
  return `jsonb_build_object('#', ${id}::text, 'type', '${type}', 'properties', ${shown(visibleProperties(types[type], as), properties)})`
}

function shown(properties: readonly (readonly [string, PropertyDeclaration])[], source: string): string {
  if (properties.length === 0) return `'{}'::jsonb`
  const members = properties.map(([name, declared]) => `'${name}', ${readProperty(name, declared, 'v.v')}`)
  return `(select jsonb_strip_nulls(jsonb_build_object(${members.join(', ')})) from (select ${source}::text::jsonb as v) v)`
}

/** A value of another type than is declared is read as absent, so that no statement fails on it. */
function readProperty(
  name: string,
  { type, levels: isList, computed }: PropertyDeclaration,
  json: string,
): string {
  if (computed !== undefined) return computed(json)
  const value = `${json} -> '${name}'`
  if (isList === true)
    return `(select string_agg(x, '.' order by place) from jsonb_array_elements_text(
      case jsonb_typeof(${value}) when 'array' then ${value} else '[]'::jsonb end) with ordinality l (x, place))`
  if (type === 'boolean') return `case when jsonb_typeof(${value}) = 'boolean' then ${value} end`
  const asText = `${json} ->> '${name}'`
  if (type === 'text') return `case when jsonb_typeof(${value}) in ('string', 'number') then ${asText} end`
  return `case when ${asText} ~ '^-?[0-9]{1,15}([.][0-9]{1,15})?$' then (${asText})::float8 end`
}
