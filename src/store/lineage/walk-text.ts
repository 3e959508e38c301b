/** Writes the SQL of a walk through lineage. Its parameters are those that `lineageAround` gives. */

import { rowAt, rowNumber } from '../graph/node-numbers.ts'
import { hiddenDatasets, isReadableKey } from '../graph/readable.ts'
import { isSeenJob } from './seen.ts'

/** What a walk begins at. */
type StartKind = 'dataset' | 'job' | 'column' | 'table' | 'table-column' | 'contract'

/** Column dependencies that an edge between datasets shows. A walk from a column shows all of its own. */
const columnsShown = 100

const key = (alias: string, property = 'id') =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${property}"'::agtype])`
const given = 'to_jsonb($1::text)::text::agtype'
/** The same of a table, which may have been renamed since. */
const givenTable =
  'to_jsonb(coalesce((select r.new_key from lineage_renamed r where r.old_key = $1::text), $1::text))::text::agtype'

/** Where a walk finds the edges of a label. */
type EdgesOf = (label: 'LINEAGE_OF' | 'PRODUCED_BY' | 'CONSUMED_BY') => string

/** The edges that there are. */
export const present: EdgesOf = (label) => `"${label}"`

/** Those of a time, by the times of events. Edges of earlier versions have no beginning. */
export const edgesAt =
  (time: string): EdgesOf =>
  (label) =>
    `(select l.id, l.start_id, l.end_id, l.properties from "${label}" l
      where coalesce((${key('l', 'since_ms')})::text::numeric <= extract(epoch from ${time}) * 1000, true)
    union all
    select p.id, p.start_id, p.end_id, p.properties from lineage_past p
      where p.label = '${label}' and coalesce(p.since <= ${time}, true) and p.until > ${time})`

/** A job and those whose runs its runs start. */
const family = `family (id) as (
      select j.id from "Job" j where ${key('j')} = ${given} union
      select c.end_id from family f join "PARENT_OF" c on c.start_id = f.id)`

/** The datasets, as `d` or `p.start_id`, at which a walk begins; a job or table may have several. */
const starts = {
  dataset: `select d.id from "Dataset" d where ${key('d')} = ${given}`,
  column: `select d.id from "Dataset" d where ${key('d')} = ${given}`,
  // Also what the jobs have produced that its runs started. From what a job only reads, the walk goes up.
  job: `select p.start_id, false from family f join "PRODUCED_BY" p on p.end_id = f.id
    union all
    select c.start_id, true from family f join "CONSUMED_BY" c on c.end_id = f.id
    where not exists (select from "PRODUCED_BY" p where p.end_id = f.id)`,
  table: `select d.id from "Dataset" d where ${key('d', 'table_id')} = ${givenTable}`,
  'table-column': `select d.id from "Dataset" d where ${key('d', 'table_id')} = ${givenTable}`,
  contract: `select d.id from "Contract" c join "GOVERNS" g on g.start_id = c.id join "Table" t on t.id = g.end_id
    join "Dataset" d on ${key('d', 'table_id')} = ${key('t')} where ${key('c')} = ${given}`,
} as const satisfies Record<StartKind, string>

const startExists = {
  dataset: starts.dataset,
  column: starts.column,
  job: `select j.id from "Job" j where ${key('j')} = ${given}`,
  table: `select t.id from "Table" t where ${key('t')} = ${given} union all ${starts.table}`,
  'table-column': starts.table,
  contract: `select c.id from "Contract" c where ${key('c')} = ${given}`,
} as const satisfies Record<StartKind, string>

/** A job exists for a reader only through a dataset that the reader may see, a table and a contract also by themselves. */
function existsForReader(kind: StartKind): string {
  const found = 'select node from start'
  if (kind === 'table')
    return `${found} union all select t.id from "Table" t where ${key('t')} = ${given} and ${isReadableKey(given)}`
  if (kind !== 'contract') return found
  return `${found} union all select c.id from "Contract" c join "GOVERNS" g on g.start_id = c.id join "Table" t on t.id = g.end_id
    where ${key('c')} = ${given} and ${isReadableKey(key('t'))}`
}

/** A dataset and all others that are names of the same table: a walk takes them for one. */
const namesOf = (node: string) => `(select ${node} as node union all
      select other.node from lineage_name own
        join lineage_name other on other.table_key = own.table_key and other.node <> own.node
      where own.node = ${node})`

interface WalkText {
  readonly kind: StartKind
  readonly directions: string
  readonly readableOnly: boolean
  readonly edges: EdgesOf
}

/**
 * The statement of a walk: its page of edges in order, and a row without a label where its start exists.
 * @param text `kind` says what `$1` is the id of; `directions` is a list of SQL values, 1 for downstream
 */
export function walkText(text: WalkText): string {
  const { kind, readableOnly } = text
  const isOfColumn = kind === 'column' || kind === 'table-column'
  const walk = isOfColumn ? columnWalk(text) : datasetWalk(text)
  const exists = readableOnly ? existsForReader(kind) : startExists[kind]
  const begun = kind === 'job' ? starts.job : `select begun.*, false from (${starts[kind]}) begun`
  return `with recursive hidden (node) as materialized (${hiddenFrom(readableOnly)}), ${kind === 'job' ? `${family},` : ''}
    start (node, is_read) as (
      select named.node, bool_and(s.is_read) from (${begun}) s (id, is_read), lateral ${namesOf('s.id')} named
      where ${isSeen('named.node')} group by named.node), ${walk},
    page as (
      select * from found
      where (hops, id::text::int8, columns_key) > ($3::int, $4::int8, $5::text)
      order by hops, id::text::int8, columns_key limit $6::int)
    select null as label, 0 as hops, '' as position, '' as source, '' as target,
      null as source_key, null as target_key, null as input, null as output,
      null::int as column_count, null::jsonb as columns, null::jsonb as transformations, 0 as place,
      (select count(*)::int from found) as total, null::boolean as in_place, null::jsonb as evidence,
      null as source_state, null as target_state
    where exists (${exists})
    union all
    select p.label, p.hops, p.hops || '.' || p.id::text || '.' || p.columns_key, a.properties::text, b.properties::text,
      (select n.table_key from lineage_name n where n.node = p.start_id),
      (select n.table_key from lineage_name n where n.node = p.end_id), p.input, p.output, p.column_count, p.columns, p.transformations,
      row_number() over (order by p.hops, p.id::text::int8, p.columns_key), null,
      p.label = 'PRODUCED_BY' and coalesce((p.edge -> 'in_place')::boolean, false),
      case when p.edge is not null then svc.edge_evidence(p.label, p.edge, of_a.json, of_b.json) end,
      case when p.label = 'PARENT_OF' then svc.job_state(of_a.json ->> 'namespace', of_a.json ->> 'name') end,
      case when p.label in ('PARENT_OF', 'PRODUCED_BY', 'CONSUMED_BY') then svc.job_state(of_b.json ->> 'namespace', of_b.json ->> 'name') end
    from page p join "_ag_label_vertex" a on a.id = p.start_id join "_ag_label_vertex" b on b.id = p.end_id,
      lateral (select a.properties::text::jsonb as json) of_a, lateral (select b.properties::text::jsonb as json) of_b
    order by place`
}

/**
 * The statement of a list of the datasets that a walk reaches: a page of them, nearest first, and a row without a place
 * where the start exists, with those at the end of the walk.
 * @param kind what `$1` is the id of; `datasets` for a list of the graph's own numbers, as JSON
 */
export function reachText({
  kind,
  direction,
  readableOnly,
}: {
  readonly kind: Exclude<StartKind, 'column' | 'table-column'> | 'datasets'
  readonly direction: 'upstream' | 'downstream'
  readonly readableOnly: boolean
}): string {
  const [here, there] = direction === 'downstream' ? ['start_id', 'end_id'] : ['end_id', 'start_id']
  const isOn = kind === 'datasets'
  const begun = isOn
    ? `select d.id from jsonb_array_elements_text($1::text::jsonb) one
        join "Dataset" d on d.id = ${rowAt('Dataset', rowNumber('one'))}`
    : kind === 'job'
      ? `select j.id from (${starts.job}) j (id, is_read)`
      : starts[kind]
  const exists = isOn ? 'select' : readableOnly ? existsForReader(kind) : startExists[kind]
  return `with recursive hidden (node) as materialized (${hiddenFrom(readableOnly)}), ${kind === 'job' ? `${family},` : ''}
    start (node) as (
      select distinct named.node from (${begun}) s (id), lateral ${namesOf('s.id')} named where ${isSeen('named.node')}),
    reached (node, hops) as (
      select node, 0 from start
      union
      select step.node, r.hops + 1 from reached r join "LINEAGE_OF" e on e.${here} = r.node,
        lateral ${namesOf(`e.${there}`)} step
      where r.hops < $2::int and ${isSeen('step.node')}),
    nearest as (select node, min(hops) as hops from reached group by node),
    page as (
      select node, hops from nearest where hops > 0 and (hops, node::text::int8) > ($3::int, $4::int8)
      order by hops, node::text::int8 limit $5::int)
    select 0 as place, 0 as hops, '' as node, '' as properties, null as table_key,
      (select coalesce(jsonb_agg(f.node order by f.node), '[]') from (
        select n.node::text as node from nearest n where n.hops = $2::int limit $6::int) f) as ends
    where exists (${exists})
    union all
    select row_number() over (order by p.hops, p.node::text::int8), p.hops, p.node::text,
      (select d.properties::text from "Dataset" d where d.id = p.node),
      (select n.table_key from lineage_name n where n.node = p.node), null
    from page p
    order by place`
}

/** The datasets at which a walk ends. */
const hiddenFrom = (readableOnly: boolean) =>
  readableOnly ? hiddenDatasets : 'select id from "Dataset" where false'

const isSeen = (node: string) => `${node} not in (select node from hidden)`

/** LINEAGE_OF edges within `depth` hops, and the jobs and tables of every dataset reached. */
function datasetWalk({ kind, directions, edges, readableOnly }: WalkText): string {
  const json = '(e.properties::text::jsonb)'
  const lineageOf = edges('LINEAGE_OF')
  // What reads a dataset is downstream of it, one hop on. Of a job's own walk, what it reads is where the walk begins.
  const [consumersOf, consumerHops] =
    kind === 'job'
      ? ['(n.is_down and n.hops < $2::int or c.end_id in (select id from family))', 'n.hops']
      : ['n.is_down and n.hops < $2::int', 'n.hops + 1']
  return `reached (node, hops, way) as (
      select s.node, 0, d.way from start s, (values ${directions}) d (way) where d.way = -1 or not s.is_read
      union
      select step.node, r.hops + 1, r.way from reached r, lateral (
        select e.end_id from ${lineageOf} e where r.way = 1 and e.start_id = r.node
        union all
        select e.start_id from ${lineageOf} e where r.way = -1 and e.end_id = r.node) one (node),
        lateral ${namesOf('one.node')} step
      where r.hops < $2::int and ${isSeen('step.node')}),
    nearest as (select node, way, min(hops) as hops from reached group by node, way),
    lineage as (
      select e.id, min(n.hops) + 1 as hops from nearest n, lateral (
        select e.id, e.end_id from ${lineageOf} e where n.way = 1 and e.start_id = n.node
        union all
        select e.id, e.start_id from ${lineageOf} e where n.way = -1 and e.end_id = n.node) e (id, other)
      where n.hops < $2::int and ${isSeen('e.other')} group by e.id),
    beside as (
      select e.label, e.id, e.start_id, e.end_id, e.hops, e.properties
      from (select node, min(hops) as hops, bool_or(way = 1) as is_down from nearest group by node) n, lateral (
        select 'PRODUCED_BY' as label, n.hops, p.id, p.start_id, p.end_id, p.properties from ${edges('PRODUCED_BY')} p where p.start_id = n.node
        union all
        select 'CONSUMED_BY', ${consumerHops}, c.id, c.start_id, c.end_id, c.properties from ${edges('CONSUMED_BY')} c
          where c.start_id = n.node and ${consumersOf} ${readableOnly ? `and ${isSeenJob('c.end_id')}` : ''}
        union all
        select 'STORED_AS', n.hops, s.id, s.start_id, s.end_id, null from "STORED_AS" s where s.start_id = n.node) e),
    parents (id, start_id, end_id, hops) as (
      select p.id, p.start_id, p.end_id, b.hops from beside b join "PARENT_OF" p on p.end_id = b.end_id
      where b.label in ('PRODUCED_BY', 'CONSUMED_BY')
      union
      select p.id, p.start_id, p.end_id, above.hops from parents above join "PARENT_OF" p on p.end_id = above.start_id),
    found as (
      select 'LINEAGE_OF' as label, l.hops, e.id, e.start_id, e.end_id, '' as columns_key, null as input, null as output,
        coalesce(jsonb_array_length(${json} -> 'columns'), 0) as column_count,
        jsonb_path_query_array(coalesce(${json} -> 'columns', '[]'), '$[0 to ${columnsShown - 1}]') as columns,
        null::jsonb as transformations, ${json} - 'columns' - 'columns_by_job' as edge
      from lineage l join ${lineageOf} e on e.id = l.id
      union all
      select label, hops, id, start_id, end_id, '', null, null, null, null, null, properties::text::jsonb from beside
      union all
      select 'PARENT_OF', min(hops), id, start_id, end_id, '', null, null, null, null, null, null
      from parents group by id, start_id, end_id)`
}

/** Dependencies between columns. A dependency of a whole dataset (output null) ends a downstream walk. */
function columnWalk({ directions, edges }: WalkText): string {
  const columns = `jsonb_array_elements(coalesce((e.properties::text::jsonb) -> 'columns', '[]')) c`
  const forward = `r.way = 1 and e.start_id = r.node and c ->> 'input' = r.name`
  const back = `r.way = -1 and e.end_id = r.node and (c ->> 'output' = r.name or c ->> 'output' is null)`
  const lineageOf = edges('LINEAGE_OF')
  return `reached (node, name, hops, way) as (
      select s.node, $7::text, 0, d.way from start s, (values ${directions}) d (way)
      union
      select step.node, one.name, r.hops + 1, r.way from reached r, lateral (
        select e.end_id, c ->> 'output' from ${lineageOf} e, ${columns} where ${forward}
        union all
        select e.start_id, c ->> 'input' from ${lineageOf} e, ${columns} where ${back}) one (node, name),
        lateral ${namesOf('one.node')} step
      where r.hops < $2::int and r.name is not null and ${isSeen('step.node')}),
    nearest as (select node, name, way, min(hops) as hops from reached group by node, name, way),
    found as (
      select 'LINEAGE_OF' as label, min(r.hops) + 1 as hops, e.id, e.start_id, e.end_id,
        md5(e.c::text) as columns_key,
        e.c ->> 'input' as input, e.c ->> 'output' as output, null::int as column_count, null::jsonb as columns,
        e.c -> 'transformations' as transformations, null::jsonb as edge
      from nearest r, lateral (
        select e.id, e.start_id, e.end_id, c from ${lineageOf} e, ${columns} where ${forward}
        union all
        select e.id, e.start_id, e.end_id, c from ${lineageOf} e, ${columns} where ${back}) e
      where r.hops < $2::int and ${isSeen('e.start_id')} and ${isSeen('e.end_id')}
      group by e.id, e.start_id, e.end_id, e.c)`
}
