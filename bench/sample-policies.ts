/** Six policies as stewards write them (docs/policies.md), and the same six in plain TypeScript. */

import { isJsonObject, type JsonObject, type JsonValue } from '../src/base/json.ts'
import type { Policy, PolicyKind } from '../src/core/policy.ts'
import type { PolicyBindings } from '../src/policy/evaluate.ts'

export interface SamplePolicy {
  readonly name: string
  readonly kind: PolicyKind
  readonly text: string
  readonly plain: (bindings: PolicyBindings) => boolean
}

export const writerRole = 'orders-writer'
const schemaActions: readonly JsonValue[] = ['add-schema', 'set-current-schema']

/** @param retentionMs age of a snapshot from which the last of the six allows its expiry */
export function samplePolicies(retentionMs: number): readonly SamplePolicy[] {
  return [
    {
      name: 'keep-id-column',
      kind: 'schema',
      text: 'manifest.has_column(commit.result, "id")',
      plain: ({ commit }) => hasField(at(at(commit, 'result'), 'schema'), 'id'),
    },
    {
      name: 'no-ssn-column',
      kind: 'schema',
      text: '!manifest.has_column(commit.result, "ssn")',
      plain: ({ commit }) => !hasField(at(at(commit, 'result'), 'schema'), 'ssn'),
    },
    {
      name: 'keep-day-partition',
      kind: 'schema',
      text: 'manifest.has_partition(commit.result, "event_day")',
      plain: ({ commit }) => hasField(at(at(commit, 'result'), 'partition_spec'), 'event_day'),
    },
    {
      name: 'writers-only',
      kind: 'write_acl',
      text: `principal.role(principal, "${writerRole}")`,
      plain: ({ principal }) => list(at(principal, 'roles')).includes(writerRole),
    },
    {
      name: 'stewards-change-schema',
      kind: 'write_acl',
      text: `principal.role(principal, "data-steward") ||
  !commit.updates.exists(u, u.action in ["add-schema", "set-current-schema"])`,
      plain: ({ principal, commit }) =>
        list(at(principal, 'roles')).includes('data-steward') ||
        !list(at(commit, 'updates')).some((update) => schemaActions.includes(at(update, 'action'))),
    },
    {
      name: 'keep-snapshots',
      kind: 'retention',
      text: `commit.updates.filter(u, u.action == "remove-snapshots").all(u,
  table.snapshots.all(s,
    !(s.snapshot_id in u["snapshot-ids"]) ||
    commit.received_at - s.timestamp_ms >= ${retentionMs}))`,
      plain: ({ table, commit }) =>
        list(at(commit, 'updates'))
          .filter((update) => at(update, 'action') === 'remove-snapshots')
          .every((update) =>
            list(at(table, 'snapshots')).every(
              (snapshot) =>
                !list(at(update, 'snapshot-ids')).includes(at(snapshot, 'snapshot_id')) ||
                (at(commit, 'received_at') as bigint) - (at(snapshot, 'timestamp_ms') as bigint) >=
                  BigInt(retentionMs),
            ),
          ),
    },
  ]
}

/** The six as they are stored, repeated under different ids. */
export function enforcedPolicies(count: number, retentionMs: number): readonly Policy[] {
  const samples = samplePolicies(retentionMs)
  return Array.from({ length: count }, (_, index) => {
    const { name, kind, text } = samples[index % samples.length] as SamplePolicy
    const id = `${String(index).padStart(3, '0')}-${name}`
    return { id, kind, mode: 'enforce', name: id, message: '', definitionCel: text }
  })
}

function at(value: JsonValue, key: string): JsonValue {
  return (value as JsonObject).get(key) ?? null
}

function list(value: JsonValue): readonly JsonValue[] {
  return value as readonly JsonValue[]
}

function hasField(value: JsonValue, name: string): boolean {
  return list(at(value, 'fields')).some((field) => isJsonObject(field) && field.get('name') === name)
}
