/** What policies read of a table, and that nothing else of it can change their value. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { limits } from '../../src/limits.ts'
import { compilePolicy } from '../../src/policy/compile.ts'
import { evaluatePolicy } from '../../src/policy/evaluate.ts'
import { PolicyError } from '../../src/policy/policy-error.ts'
import { allReads, type PolicyReads } from '../../src/policy/reads.ts'
import { roundsOf } from '../support/long-form.ts'
import { json } from './bindings.ts'

function reads(text: string) {
  const { unpinnable, definitions, refs, resultRefs } = compilePolicy(text).reads
  return unpinnable ?? [...definitions, ...refs, ...[...resultRefs].map((ref) => `result ${ref}`)].join(', ')
}

const pinned: readonly (readonly [text: string, reads: string])[] = [
  ['true', ''],
  ['principal.role(principal, "writer") && principal.sub != "x"', ''],
  ['commit.updates.all(u, u.action in ["add-snapshot", "set-snapshot-ref"])', ''],
  ['commit.requirements.exists(r, r.type == "assert-table-uuid") && commit.received_at > 0', ''],
  ['has(commit.identifier) && commit.identifier.name == table.name', ''],
  ['table.namespace[0] == "sales" && table.uuid != ""', ''],
  ['has(commit.result) && commit.result != null', ''],
  ['manifest.has_column(commit.result, "id")', 'schema'],
  ['manifest.columns(commit.result).all(c, c.doc != "")', 'schema'],
  ['manifest.has_column(table, table.name)', 'schema'],
  ['manifest.is_same_column(table, commit.result, "id")', 'schema'],
  ['manifest.has_partition(table, "day")', 'partition_spec'],
  ['table.schema.fields.exists(f, f.name == "id")', 'schema'],
  ['commit["result"]["schema"]["fields"].size() > 0', 'schema'],
  ['"schema-id" in commit.result.schema', 'schema'],
  [
    'table.sort_order["order-id"] == 0 && size(table.partition_spec.fields) == 0',
    'sort_order, partition_spec',
  ],
  ['table.current_snapshot == null', 'main'],
  ['commit.result.current_snapshot.summary.operation == "append"', 'result main'],
  ['table.refs.audit.snapshot_id == 3', 'audit'],
  ['has(table.refs.audit) || "old" in commit.result.refs', 'audit, result old'],
  ['commit.updates.all(u, u.action != "x" || manifest.has_column(table, u.name))', 'schema'],
]

test.each(pinned)('finds what requirements can pin in %s', (text, expected) => {
  expect(reads(text)).toBe(expected)
})

const unpinned: readonly (readonly [text: string, member: string])[] = [
  ['table.properties.owner == "x"', 'table.properties'],
  ['principal.sub == "x" || has(commit.result.properties.owner)', 'commit.result.properties'],
  ['table.snapshots.all(s, s.snapshot_id > 0)', 'table.snapshots'],
  ['table.last_updated_ms > 0', 'table.last_updated_ms'],
  ['table.location != ""', 'table.location'],
  ['table.format_version == 2', 'table.format_version'],
  ['table.schemas.size() == 1', 'table.schemas'],
  ['table.partition_specs.size() == 1', 'table.partition_specs'],
  ['table.refs.size() == 1', 'table.refs'],
  ['table.refs.main.type == "branch"', 'table.refs'],
  ['table.refs.main != null', 'table.refs'],
  ['table.refs.all(r, r != "x")', 'table.refs'],
  ['table.refs[principal.sub].snapshot_id == 1', 'table.refs'],
  ['table == commit.result', 'table'],
  ['table[principal.sub] == 1', 'table'],
  ['table["unknown"] == 1', 'table.unknown'],
  ['commit.result == table', 'commit.result'],
  ['[table].exists(t, t.name == "x")', 'table'],
  ['{"t": commit.result}.t.name == "x"', 'commit.result'],
  ['(true ? table : commit.result).name == "x"', 'table'],
  ['manifest.has_column(true ? table : commit.result, "id")', 'table'],
  ['manifest.has_column(commit.result, string(table.format_version))', 'table.format_version'],
  ['commit[principal.sub] == 1', 'commit'],
  ['size(commit) == 4', 'commit'],
  ['commit["@manifest"].added_files == 1', 'commit.@manifest'],
  ['manifest.added_files(commit) == 0', 'manifest.added_files(commit)'],
  ['!manifest.is_rollback(commit)', 'manifest.is_rollback(commit)'],
]

test.each(unpinned)('finds the member that no requirement pins in %s', (text, member) => {
  expect(reads(text)).toBe(member)
})

test('joins what several policies read', () => {
  const of = (text: string) => compilePolicy(text).reads
  const joined = allReads([
    of('table.current_snapshot == null'),
    of('manifest.has_column(table, "id")'),
    of('true'),
  ])
  expect(joined).toEqual({ definitions: new Set(['schema']), refs: new Set(['main']), resultRefs: new Set() })
  expect(allReads([joined, of('table.properties.x == ""')]).unpinnable).toBe('table.properties')
})

const seed = 20_261_123
const member = fc.constantFrom(
  ...[
    'name',
    'uuid',
    'schema',
    'partition_spec',
    'sort_order',
    'current_snapshot',
    'snapshots',
    'properties',
  ],
  ...['refs.main', 'refs.main.snapshot_id', 'refs.b.snapshot_id', 'refs.b.type', 'refs', 'location'],
  ...['format_version', 'last_updated_ms', 'schema.fields', 'current_snapshot.summary', 'properties.p'],
)
const root = fc.constantFrom('table', 'commit.result', 'table', 'commit["result"]', 'commit')
const operand = fc.tuple(root, member).map(([name, of]) => `${name}.${of}`)
const atom = fc.oneof(
  operand.map((path) => `${path} == null`),
  operand.map((path) => `has(${path})`),
  fc.tuple(operand, operand).map(([left, right]) => `${left} == ${right}`),
  operand.map((path) => `size(${path}) > 1`),
  operand.map((path) => `${path}.exists(x, string(x) == "b")`),
  operand.map((path) => `"b" in ${path}`),
  fc
    .tuple(root, fc.constantFrom('a', 'b'))
    .map(([name, column]) => `manifest.has_column(${name}, "${column}")`),
  fc.constantFrom(
    'manifest.is_same_column(table, commit.result, "a")',
    'table == commit.result',
    'commit.updates.all(u, u.action == "add-snapshot")',
    '[table, commit.result].all(t, t.schema == table.schema)',
    'table.refs["ma" + "in"].snapshot_id == 1',
  ),
)
const policyText = fc
  .tuple(atom, atom, fc.constantFrom('&&', '||'), fc.boolean())
  .map(([left, right, operator, negated]) => `${negated ? '!' : ''}(${left}) ${operator} (${right})`)

const few = fc.integer({ min: 1, max: 2 })
const someTable = fc.record({
  namespace: fc.constant(['n']),
  name: fc.constant('t'),
  uuid: fc.constant('u'),
  location: fc.constantFrom('a', 'b'),
  format_version: few,
  schema: fc
    .constantFrom('a', 'b')
    .map((name) => ({ 'schema-id': 0, fields: [{ id: 1, name, type: 'int' }] })),
  partition_spec: few.map((id) => ({ 'spec-id': id, fields: [] })),
  sort_order: few.map((id) => ({ 'order-id': id, fields: [] })),
  current_snapshot: fc.option(few.map((id) => ({ snapshot_id: id, summary: { s: String(id) } }))),
  snapshots: fc.array(
    few.map((id) => ({ snapshot_id: id })),
    { maxLength: 2 },
  ),
  refs: fc.dictionary(
    fc.constantFrom('main', 'b', 'c'),
    fc.record({ snapshot_id: few, type: fc.constantFrom('branch', 'tag') }),
    { maxKeys: 3 },
  ),
  properties: fc.dictionary(fc.constantFrom('p', 'b'), fc.constantFrom('b', 'c')),
  last_updated_ms: few,
})
type SomeTable = typeof someTable extends fc.Arbitrary<infer T> ? T : never

/** `other`, with everything that is pinned as in `table`. */
function pinnedLike(
  table: SomeTable,
  other: SomeTable,
  definitions: PolicyReads['definitions'],
  refs: PolicyReads['refs'],
): SomeTable {
  const kept = Object.fromEntries([...definitions].map((key) => [key, table[key]]))
  const others = Object.entries(other.refs).filter(([name]) => !refs.has(name))
  const pinnedRefs = [...refs].flatMap((name) => {
    const ref = table.refs[name]
    // Its snapshot is pinned, its type is not.
    return ref ? [[name, { ...ref, type: other.refs[name]?.type ?? 'tag' }]] : []
  })
  return {
    ...other,
    ...kept,
    refs: Object.fromEntries([...others, ...pinnedRefs]),
    ...(refs.has('main') && { current_snapshot: table.current_snapshot }),
  }
}

function outcome(text: string, table: SomeTable, result: SomeTable): boolean | string {
  const bindings = {
    table: withColumns(table),
    commit: new Map([
      ...(json({ requirements: [], updates: [], received_at: 1 }) as never),
      ['result', withColumns(result)],
    ]),
    principal: json({ sub: 'b', roles: [] }),
  }
  try {
    return evaluatePolicy(compilePolicy(text), bindings as never, {
      timeoutMs: 5_000,
      ticksMax: limits.policyTicksMax,
    })
  } catch (thrown) {
    if (thrown instanceof PolicyError) return thrown.code
    throw thrown
  }
}

function withColumns(table: SomeTable) {
  const columns = Object.fromEntries(table.schema.fields.map((field) => [field.name, field]))
  return json({ ...table, '@columns': columns })
}

test('gives no other value for any change of what is not pinned', () => {
  let pinnable = 0
  fc.assert(
    fc.property(
      policyText,
      someTable,
      someTable,
      someTable,
      someTable,
      (text, table, result, other, otherResult) => {
        let found: PolicyReads
        try {
          found = compilePolicy(text).reads
        } catch {
          return
        }
        if (found.unpinnable !== undefined) return
        pinnable++
        const again = pinnedLike(table, other, found.definitions, found.refs)
        const resultAgain = pinnedLike(result, otherResult, found.definitions, found.resultRefs)
        expect([text, outcome(text, again, resultAgain)]).toEqual([text, outcome(text, table, result)])
      },
    ),
    { seed, numRuns: roundsOf(10_000) },
  )
  expect(pinnable).toBeGreaterThan(100)
})
