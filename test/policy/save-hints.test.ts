/** Mistakes that are found when a policy is saved, and what the author is told to write. */

import { expect, test } from 'bun:test'
import { checkPolicy, checkPolicyToSave } from '../../src/policy/check.ts'
import { pageExamples } from './bindings.ts'

/** Texts that compile, and would never do what they say. */
const compiling: readonly (readonly [text: string, offset: number, part: string])[] = [
  ['"id" in table.schema.fields', 5, 'Write manifest.has_column(table, "id").'],
  ['!("id" in commit.result.schema.fields)', 7, 'Write manifest.has_column(commit.result, "id").'],
  ['"day" in table.partition_spec.fields', 6, 'Write manifest.has_partition(table, "day").'],
  ['"x" in table.snapshots', 4, 'Write table.snapshots.exists(x, …).'],
  ['table.shcema.fields.size() == 0', 5, "table has no key 'shcema'; it has namespace, name"],
  ['table.schema.feilds.size() == 0', 12, "table.schema has no key 'feilds'; it has type, schema-id"],
  ['commit.result.current_snapshot.operation == "append"', 30, "has no key 'operation'"],
  ['table.snapshots.all(s, s.committed_at > 3)', 24, "s has no key 'committed_at'"],
  ['table.snapshots[0].operation == "append"', 18, "has no key 'operation'"],
  ['table.schema.fields.exists(f, f.nam == "id")', 31, "f has no key 'nam'"],
  ['has(table.schema.colums)', 0, "table.schema has no key 'colums'"],
  ['manifest.columns(table).all(c, c.nam != "x")', 33, "c has no key 'nam'; it has path, name"],
  [
    'table.current_snapshot.summary["engine-name"] == "spark"',
    30,
    'Write "engine-name" in table.current_snapshot.summary && table.current_snapshot.summary["engine-name"] …',
  ],
  [
    'commit.updates.all(u, u.action != "add-snapshot" || u.snapshot.summary["spark.app.id"] != "")',
    70,
    'commit.client.agent is there for every commit.',
  ],
  ['has(commit.identifier) && commit.identifier.table == "x"', 43, "commit.identifier has no key 'table'"],
]

test.each(compiling)('refuses to save %s, which compiles', (text, _offset, part) => {
  expect(checkPolicy(text)).toEqual([])
  const problems = checkPolicyToSave(text)
  expect(problems.map(({ message }) => message).join('\n')).toContain(part)
  expect(problems).toHaveLength(1)
})

/** Texts that do not compile, with better words than the parser's. */
const failing: readonly (readonly [text: string, part: string])[] = [
  ['commit.updates.all(u, 3 in u.snapshot-ids)', 'A key with a dash is written u["snapshot-ids"].'],
  ['commit.updates.all(u, u.last-column-id > 3)', 'A key with a dash is written u["last-column-id"].'],
  ['commit.updates.all(u, u.snapshot-ids.all(i, i > 3))', 'A key with a dash is written u["snapshot-ids"].'],
  ['table.snapshots.all(s, s.snapshot-id > 3)', 'The key is written s.snapshot_id.'],
  ['not table.name', 'CEL writes !x for not.'],
  ['!(not table.name)', 'CEL writes !x for not.'],
  ['not (table.name == "x")', 'CEL writes !x where other languages write not x.'],
  ['true and false', 'CEL writes && for and.'],
  ['true or false', 'CEL writes || for or.'],
  ['manifest.added_files(table) > 0', 'manifest.added_files takes `commit`.'],
]

test.each(failing)('says for %s what to write instead', (text, part) => {
  expect(
    checkPolicyToSave(text)
      .map(({ message }) => message)
      .join('\n'),
  ).toContain(part)
})

test.each([
  'table.properties.anything == "x" && has(table.properties.other)',
  'table.refs.main.snapshot_id == 3',
  'table.current_snapshot.summary.operation == "append"',
  '"owner" in table.properties',
  '"engine-name" in table.current_snapshot.summary && table.current_snapshot.summary["engine-name"] == "x"',
  'commit.updates.all(u, u.action != "add-snapshot" || u.snapshot.summary["operation"] == "append")',
  'commit.updates.all(u, u.anything == 1 && u["snapshot-ids"].size() > 0)',
  'commit.received_at - table.last_updated_ms > 1000',
  'table.schemas.all(s, s.fields.exists(f, f.name == "id"))',
  '3 in table.schema["identifier-field-ids"]',
  '"a word: not here" == table.name',
])('saves %s', (text) => {
  expect(checkPolicyToSave(text)).toEqual([])
})

test('saves every example of the documentation', async () => {
  for (const { text } of await pageExamples()) expect(checkPolicyToSave(text)).toEqual([])
})
