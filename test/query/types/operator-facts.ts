/** The queries by which a server tells what the facts of src/query/compile/base hold. */

import { scalarTypes } from '../../../src/core/sql-type.ts'
import { aggregates, windowFunctions } from '../../../src/query/compile/functions/aggregates.ts'
import { functions } from '../../../src/query/compile/functions/registry.ts'
import { setFunctions } from '../../../src/query/compile/functions/sets.ts'

const served = scalarTypes.map((type) => `'${type}'`).join(', ')
const poly =
  "'anyarray', 'anynonarray', 'anyelement', 'anycompatible', 'anycompatiblearray', 'anycompatiblenonarray'"
const reached = `(select t.typname from pg_cast join pg_type s on s.oid = castsource join pg_type t on t.oid = casttarget
  where castcontext = 'i' and s.typname in (${served}) and t.typname !~ '^reg')`
const isNear = (column: string) => `(${column} in (${served}, ${poly}) or ${column} in ${reached})`

/** Columns n, l, r, x: the sign, its operands and its result. */
export const factsQuery = `select oprname::text n, l.typname::text l, r.typname::text r, x.typname::text x from pg_operator
  left join pg_type l on l.oid = oprleft join pg_type r on r.oid = oprright join pg_type x on x.oid = oprresult
  where ((l.typname is null or ${isNear('l.typname')}) and ${isNear('r.typname')})
    or l.typname in (${served}) or r.typname in (${served})
  order by 1, 2 nulls first, 3`

/** Names that the registries have. */
export const functionNames = [
  ...new Set([functions, aggregates, windowFunctions, setFunctions].flatMap((each) => [...each.keys()])),
].sort()
const isNamed = `pronamespace = 'pg_catalog'::regnamespace and proname in (${functionNames.map((name) => `'${name}'`).join(', ')})`

/** Columns n, s: the name, and its arguments and result. */
export const functionsQuery = `select proname::text n, array_to_string(array(
  select t.typname || case when provariadic <> 0 and i = pronargs then '...' else '' end
    || case when i > pronargs - pronargdefaults then '?' else '' end
  from unnest(proargtypes) with ordinality u(o, i) join pg_type t on t.oid = u.o order by i)
  || (select typname::text from pg_type where oid = prorettype), ' ') s
  from pg_proc where ${isNamed} order by 1, 2`

/** One text: each type of an operand or argument with its category, and an asterisk where it is preferred. */
export const typesQuery = `select string_agg(typname || ':' || typcategory::text || case when typispreferred then '*' else '' end, ' '
  order by typname collate "C") as text from pg_type where typname in (${served}, ${poly})
  or typname in ${reached} or oid in (select unnest(array[oprleft, oprright]) from pg_operator where
  oprleft in (select oid from pg_type where typname in (${served})) or oprright in (select oid from pg_type where typname in (${served})))
  or oid in (select unnest(proargtypes) from pg_proc where ${isNamed})`

/** Columns f, t: a type, and those to which it converts implicitly. */
export const castsQuery = `select s.typname::text f, string_agg(t.typname, ' ' order by t.typname collate "C") t from pg_cast
  join pg_type s on s.oid = castsource join pg_type t on t.oid = casttarget
  where castcontext = 'i' and s.typname in (${served}) and t.typname !~ '^reg' and s.oid <> t.oid group by 1 order by 1`
